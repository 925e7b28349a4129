#!/usr/bin/env python3
"""sooth record, sooth analyze --live and the compiler wrappers, from their command lines to statuses and recordings.

    tests/cli/record.py SOOTH [NAME...]      all tests, or those named

SOOTH_KILLS is the number of runs that are killed at a random moment (default 100), SOOTH_SEED chooses the moments. A test whose
means are missing (clang, root for a small disk) says so and counts as skipped.
"""
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time

SOURCES = {
    # Two threads and a race; the argument says how to end.
    "prog.cc": r"""
        #include <cstdio>
        #include <cstdlib>
        #include <cstring>
        #include <csignal>
        #include <thread>
        int shared_counter;
        int main(int argc, char** argv) {
          std::thread a([] { shared_counter++; });
          std::thread b([] { shared_counter++; });
          a.join(); b.join();
          const char* how = argc > 1 ? argv[1] : "0";
          if (!std::strcmp(how, "cat")) { int c; while ((c = std::getchar()) != EOF) std::putchar(c); return 0; }
          if (!std::strcmp(how, "args")) { for (int i = 2; i < argc; ++i) std::printf("[%s]\n", argv[i]); return 0; }
          if (!std::strcmp(how, "abort")) std::abort();
          if (!std::strcmp(how, "segv")) std::raise(SIGSEGV);
          if (!std::strcmp(how, "term")) std::raise(SIGTERM);
          std::printf("out\n"); std::fprintf(stderr, "err\n");
          return std::atoi(how);
        }
        """,
    # Runs until it is told to stop; says "ready" first, and what it was told.
    "busy.cc": r"""
        #include <atomic>
        #include <csignal>
        #include <cstdio>
        #include <mutex>
        #include <thread>
        #include <unistd.h>
        static std::atomic<int> told{0};
        static std::mutex m;
        static long counter;
        static void on_signal(int signal) { told = signal; }
        static void work() { while (!told) { std::lock_guard<std::mutex> guard(m); ++counter; } }
        int main() {
          for (int s : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(s, on_signal);
          std::thread a(work), b(work);
          write(1, "ready\n", 6);
          a.join(); b.join();
          std::printf("told %d\n", told.load());
          return 9;
        }
        """,
    # Many accesses, for limits.
    "long.cc": r"""
        #include <cstdio>
        #include <cstdlib>
        #include <thread>
        static volatile int cells[1 << 16];
        int main(int argc, char** argv) {
          const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
          std::thread t([=] { for (int r = 0; r < rounds; ++r) for (auto& c : cells) c = c + r; });
          t.join();
          std::printf("sum %d\n", cells[7]);
          return 4;
        }
        """,
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
    "plugin.cc": 'int plugin_counter; extern "C" void touch() { plugin_counter++; }\n',
    "host.cc": r"""
        #include <cstdio>
        #include <dlfcn.h>
        #include <thread>
        int main(int, char** argv) {
          void* handle = dlopen(argv[1], RTLD_NOW);
          if (!handle) { std::puts(dlerror()); return 1; }
          auto touch = reinterpret_cast<void (*)()>(dlsym(handle, "touch"));
          std::thread a(touch), b(touch);
          a.join(); b.join();
          return 0;
        }
        """,
    "forker.cc": r"""
        #include <cstdio>
        #include <sys/wait.h>
        #include <unistd.h>
        int x;
        int main() { pid_t p = fork(); x++; if (p == 0) _exit(x); int s; waitpid(p, &s, 0); return WEXITSTATUS(s); }
        """,
    # Takes descriptors, memory or the size of files away, as the argument says, then works and races.
    "greedy.cc": r"""
        #include <cstdio>
        #include <cstdlib>
        #include <cstring>
        #include <pthread.h>
        #include <sys/resource.h>
        #include <unistd.h>
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static long cells[1 << 15];
        static int done;
        int raced;
        static void* work(void*) {
          raced = 1;
          pthread_mutex_lock(&m);
          for (long& cell : cells) ++cell;
          ++done;
          pthread_mutex_unlock(&m);
          return nullptr;
        }
        static void limit(int what, unsigned long size) { rlimit r = {size, size}; setrlimit(what, &r); }
        static unsigned long memory() {
          unsigned long pages = 0;
          FILE* file = std::fopen("/proc/self/statm", "r");
          if (std::fscanf(file, "%lu", &pages) != 1) std::abort();
          std::fclose(file);
          return pages * 4096;
        }
        int main(int, char** argv) {
          const char* how = argv[1];
          int closed = 0;
          if (!std::strcmp(how, "close")) for (int fd = 3; fd < 5000; ++fd) closed += close(fd) == 0;
          if (!std::strcmp(how, "closefrom")) closefrom(3);
          if (!std::strcmp(how, "dup2")) for (int fd = 3; fd < 900; ++fd) dup2(1, fd);
          if (!std::strcmp(how, "file")) limit(RLIMIT_FSIZE, 400 << 10);
          if (!std::strcmp(how, "memory")) limit(RLIMIT_AS, memory() + std::strtoul(argv[2], nullptr, 10) * 1024);
          pthread_t threads[8];
          int made = 0;
          while (made < 8 && pthread_create(&threads[made], nullptr, work, nullptr) == 0) ++made;
          work(nullptr);
          for (int i = 0; i < made; ++i) pthread_join(threads[i], nullptr);
          std::printf("%d %s\n", closed, done == made + 1 ? "done" : "lost");
        }
        """,
    "plain.c": "#include <stdio.h>\nint main(void) { puts(\"plain\"); return 2; }\n",
}


class Skipped(Exception):
    """The machine lacks what the test needs."""


class Bench:
    """A directory with the programs, built when first asked for."""

    def __init__(self, sooth):
        self.sooth = os.path.abspath(sooth)
        self.dir = tempfile.mkdtemp(prefix="sooth-record-")
        for name, text in SOURCES.items():
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text))

    def path(self, name):
        return os.path.join(self.dir, name)

    def run(self, *words, status=None, **more):
        """Runs a command in the directory; checks the status when given."""
        more.setdefault("stdin", subprocess.DEVNULL)
        run = subprocess.run([str(w) for w in words], cwd=self.dir, capture_output=True, text=True, check=False,
                             timeout=120, **more)
        if status is not None and run.returncode != status:
            raise AssertionError(f"{' '.join(map(str, words))}: status {run.returncode}, expected {status}\n"
                                 f"{run.stdout}{run.stderr}")
        return run

    def build(self, source, *flags, wrapper="c++", output=None):
        program = self.path(output or source.rsplit(".", 1)[0])
        if not os.path.exists(program):
            self.run(self.sooth, wrapper, *flags, source, "-o", program, status=0)
        return program

    def record(self, *words, status=None, **more):
        return self.run(self.sooth, "record", *words, status=status, **more)

    def fresh(self, name="r"):
        number = len([n for n in os.listdir(self.dir) if n.startswith(name + ".")])
        return f"{name}.t{number}"

    def check_trace(self, trace):
        self.run(self.sooth, "trace", "check", trace, status=0)

    def races(self, trace, *more):
        run = self.run(self.sooth, "analyze", trace, "--with", "hb", "--format", "json", "--fail-on", "never", *more, status=0)
        return json.loads(run.stdout)["findings"]


def places(finding):
    return sorted(f"{os.path.basename(a['site'].get('file', '?'))}:{a['site'].get('line', 0)}" for a in finding["accesses"])


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def start(bench, *words, **more):
    """Starts a command whose program says "ready", and returns once it has."""
    process = subprocess.Popen([str(w) for w in words], cwd=bench.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, **more)
    line = process.stdout.readline()
    expect(line == "ready\n", f"expected `ready`, got {line!r}{process.stderr.read() if not line else ''}")
    return process


def program_of(process):
    """The only child of a process."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def test_statuses(bench):
    prog = bench.build("prog.cc")
    for how, status in [("0", 0), ("3", 3), ("255", 255), ("abort", 128 + 6), ("segv", 128 + 11), ("term", 128 + 15)]:
        trace = bench.fresh()
        run = bench.record("-o", trace, "--", prog, how, status=status)
        expect(f"in {trace} (" in run.stderr and f"next: sooth analyze {trace}" in run.stderr, run.stderr)
        bench.check_trace(trace)
        found = bench.races(trace)
        expect([places(f) for f in found] == [["prog.cc:9", "prog.cc:10"]] or [places(f) for f in found] == [["prog.cc:10", "prog.cc:9"]],
               f"{how}: {[places(f) for f in found]}")


def test_streams_untouched(bench):
    prog = bench.build("prog.cc")
    run = bench.record("-o", bench.fresh(), "--", prog, "0", status=0)
    expect(run.stdout == "out\n" and run.stderr.startswith("err\n"), (run.stdout, run.stderr))
    text = "line\n" * 1000
    run = bench.run(bench.sooth, "record", "-o", bench.fresh(), "--", prog, "cat", status=0, stdin=None, input=text)
    expect(run.stdout == text, "standard input did not arrive")
    odd = ["--", "-o", "a b", "", "[x,y]", "--help", "*"]
    run = bench.record("-o", bench.fresh(), "--", prog, "args", *odd, status=0)
    expect(run.stdout == "".join(f"[{word}]\n" for word in odd), run.stdout)


def test_usage(bench):
    prog = bench.build("prog.cc")
    os.makedirs(bench.path("there"), exist_ok=True)
    with open(bench.path("no-exec"), "w", encoding="ascii") as file:
        file.write("x")
    cases = [
        ([], 64, "record needs a program"),
        (["--"], 64, "record needs a program"),
        (["--no-such-flag", "--", prog], 64, "--no-such-flag"),
        (["--schedule", "wild", "--", prog], 64, "--schedule: `wild` is no schedule; there are os, serial, random and pct:D"),
        (["--schedule", "pct", "--", prog], 64, "pct takes a depth from 1 to 32"),
        (["--schedule", "pct:0", "--", prog], 64, "pct takes a depth from 1 to 32"),
        (["--schedule", "pct:3:x", "--", prog], 64, "like pct:3 or pct:3:1000"),
        (["--seed", "x", "--", prog], 64, "--seed"),
        (["--max-trace", "big", "--", prog], 64, "--max-trace"),
        (["--exclude", "a,b", "--", prog], 64, "--exclude"),
        ([prog], 64, "sooth record --"),
        (["-o", "-", "--", prog], 64, "analyze --live"),
        (["-o", "there", "--", prog], 64, "there exists already"),
        (["-o", "no/such/place", "--", prog], 65, "no/such: No such file"),
        (["--", "no-such-program"], 65, "no such program in PATH"),
        (["--", "./no-such-program"], 65, "No such file"),
        (["--", "./no-exec"], 65, "Permission denied"),
        (["--", "."], 65, "directory"),
    ]
    before = set(os.listdir(bench.dir))
    for words, status, error in cases:
        run = bench.record(*words, status=status)
        expect(run.stdout == "" and re.fullmatch(r"sooth: .+\n", run.stderr) and error in run.stderr, (words, run.stderr))
    expect(set(os.listdir(bench.dir)) == before, "a refused recording left something behind")


def test_default_names(bench):
    prog = bench.build("prog.cc")
    for name in ["sooth-prog.trace", "sooth-prog-2.trace", "sooth-prog-3.trace"]:
        run = bench.record("--", prog, status=0)
        expect(f"in {name} (" in run.stderr and os.path.exists(bench.path(f"{name}/version")), run.stderr)


def test_read_only_directory(bench):
    if os.geteuid() == 0:
        raise Skipped("root may write everywhere")
    prog = bench.build("prog.cc")
    os.makedirs(bench.path("sealed"), mode=0o555)
    run = bench.record("-o", "sealed/r", "--", prog, status=65)
    expect("Permission denied" in run.stderr, run.stderr)


def test_disk_full(bench):
    long = bench.build("long.cc", "-O1")
    mount = bench.path("small")
    os.makedirs(mount)
    if os.geteuid() != 0 or bench.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount).returncode != 0:
        raise Skipped("cannot mount a small file system")
    try:
        run = bench.record("-o", "small/r", "--filter", "off", "--", long, status=4)
        expect(run.stdout.startswith("sum "), run.stdout)
        expect("disk" in run.stderr or "No space" in run.stderr, run.stderr)
        shutil.copytree(bench.path("small/r"), bench.path("full-copy"))
        bench.check_trace("full-copy")
    finally:
        bench.run("umount", mount, status=0)


def test_what_cannot_be_recorded(bench):
    bench.run("gcc", "plain.c", "-o", "plain", status=0)
    run = bench.record("--", "./plain", status=2)
    expect(run.stdout == "plain\n", run.stdout)
    expect("./plain is not instrumented" in run.stderr and "sooth c++" in run.stderr and "nothing was recorded" in run.stderr,
           run.stderr)
    expect(not os.path.exists(bench.path("sooth-plain.trace")), "an empty recording")
    bench.run("gcc", "-static", "plain.c", "-o", "static", status=0)
    run = bench.record("--", "./static", status=64)
    expect("linked statically" in run.stderr, run.stderr)
    if bench.run("gcc", "-fsanitize=thread", "-static-libtsan", "plain.c", "-o", "static-tsan").returncode == 0:
        run = bench.record("--", "./static-tsan", status=64)
        expect("-static-libtsan" in run.stderr and "sooth c++" in run.stderr, run.stderr)
    shutil.copy(bench.path("plain"), bench.path("setuid"))
    os.chmod(bench.path("setuid"), stat.S_ISUID | 0o755)
    run = bench.record("--", "./setuid", status=64)
    expect("setuid" in run.stderr, run.stderr)


def test_stock_builds(bench):
    """Programs built for ThreadSanitizer, without our wrapper, run with our library in place of theirs."""
    builds = [["g++", "-fsanitize=thread", "-g"]]
    for version in ["14", "19"]:
        if shutil.which(f"clang++-{version}"):
            builds.append([f"clang++-{version}", "-fsanitize=thread", "-shared-libsan", "-g"])
    for number, command in enumerate(builds):
        if bench.run(*command, "prog.cc", "-o", f"stock{number}").returncode != 0:
            continue
        trace = bench.fresh()
        bench.record("-o", trace, "--", f"./stock{number}", "3", status=3)
        bench.check_trace(trace)
        expect(len(bench.races(trace)) == 1, f"{command}: {bench.races(trace)}")


def test_scripts_and_children(bench):
    prog = bench.build("prog.cc")
    with open(bench.path("script"), "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{prog} 0 && {prog} 1\nexit 5\n")
    os.chmod(bench.path("script"), 0o755)
    trace = bench.fresh("script")
    run = bench.record("-o", trace, "--", "./script", status=5)
    made = sorted(n for n in os.listdir(bench.dir) if n.startswith(trace))
    expect(len(made) == 2 and re.fullmatch(re.escape(trace) + r"\.\d+(\.\d+)?", made[1]), made)
    for name in made:
        expect(os.path.exists(bench.path(f"{name}/version")), f"{name} is not whole: {run.stderr}")
        expect(len(bench.races(name)) == 1, name)
    forker = bench.build("forker.cc")
    trace = bench.fresh("forker")
    bench.record("-o", trace, "--", forker, status=1)
    made = [n for n in os.listdir(bench.dir) if n.startswith(trace)]
    expect(len(made) == 2, made)
    for name in made:
        bench.check_trace(name)


def test_kill_program(bench):
    """Whenever the program is killed, what it has recorded is a well-formed trace."""
    busy = bench.build("busy.cc", "-O1")
    kills = int(os.environ.get("SOOTH_KILLS", "100"))
    seed = int(os.environ.get("SOOTH_SEED", "1"))
    moments = random.Random(seed)
    for number in range(kills):
        delay = moments.choice([0, 0.0005, 0.002, 0.01, 0.03]) * moments.random()
        trace = bench.fresh("killed")
        process = start(bench, bench.sooth, "record", "-o", trace, "--", busy)
        child = program_of(process)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        expect(process.returncode == 128 + 9, f"kill {number}: status {process.returncode}")
        try:
            bench.check_trace(trace)
        except AssertionError as error:
            raise AssertionError(f"kill {number} of seed {seed}, after {delay:.6f} s: {error}\n{errors}") from error
        shutil.rmtree(bench.path(trace))


def test_kill_sooth(bench):
    busy = bench.build("busy.cc", "-O1")
    trace = bench.fresh("orphan")
    process = start(bench, bench.sooth, "record", "-o", trace, "--", busy)
    child = program_of(process)
    process.kill()
    process.wait()
    os.kill(child, signal.SIGTERM)
    rest = process.stdout.read()  # until the program has closed it: it has ended
    expect(rest == f"told {signal.SIGTERM:d}\n", rest)
    bench.check_trace(trace)


def test_signals(bench):
    busy = bench.build("busy.cc", "-O1")
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]:
        trace = bench.fresh("signal")
        process = start(bench, bench.sooth, "record", "-o", trace, "--", busy)
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
        expect(out == f"told {number:d}\n" and process.returncode == 9, (number, out, errors, process.returncode))
        bench.check_trace(trace)
    # As from a terminal: the whole group gets it.
    process = start(bench, bench.sooth, "record", "-o", bench.fresh("signal"), "--", busy, start_new_session=True)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    expect(out == f"told {signal.SIGINT:d}\n" and process.returncode == 9, (out, errors))
    # A parent that ignores its children does not make us lose the status.
    run = bench.run(bench.sooth, "record", "-o", bench.fresh("signal"), "--", bench.build("prog.cc"), "3", status=3,
                    preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    expect("next: sooth analyze" in run.stderr, run.stderr)


def test_stop_signal(bench):
    busy = bench.build("busy.cc", "-O1")
    trace = bench.fresh("stopped")
    process = start(bench, bench.sooth, "record", "-o", trace, "--", busy)
    process.send_signal(signal.SIGUSR2)
    time.sleep(0.2)  # what the program does now must not show; nothing depends on how much it is
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    expect(out == f"told {signal.SIGTERM:d}\n" and process.returncode == 9, (out, errors))
    expect("stopped by SIGUSR2" in errors, errors)
    bench.check_trace(trace)


def test_max_trace(bench):
    long = bench.build("long.cc", "-O1")
    trace = bench.fresh("limit")
    run = bench.record("-o", trace, "--filter", "off", "--max-trace", "500k", "--", long, status=4)
    expect(run.stdout.startswith("sum ") and "--max-trace" in run.stderr, (run.stdout, run.stderr))
    bench.check_trace(trace)
    size = os.path.getsize(bench.path(f"{trace}/streams"))
    expect(size <= 600_000, f"{size} bytes")


def test_greedy_programs(bench):
    """What a program takes away (descriptors, memory, room) changes the recording, never the program."""
    greedy = bench.build("greedy.cc", "-O1")
    runs = [["close"], ["closefrom"], ["dup2"], ["file"]] + [["memory", str(size)] for size in (0, 500, 1500, 4000, 20000)]
    for schedule in "os", "serial":
        for arguments in runs:
            trace = bench.fresh("greedy")
            run = bench.record("-o", trace, "--schedule", schedule, "--", greedy, *arguments, status=0)
            expect(run.stdout == "0 done\n", (arguments, schedule, run.stdout, run.stderr))
            bench.check_trace(trace)
            if arguments[0] in ("close", "closefrom", "dup2"):
                expect("ends before" not in run.stderr and bench.races(trace), (arguments, schedule, run.stderr))


def test_serial(bench):
    prog = bench.build("prog.cc")
    texts = []
    for seed in ["7", "7", "8"]:
        trace = bench.fresh("serial")
        bench.record("-o", trace, "--schedule", "serial", "--seed", seed, "--", prog, status=0)
        bench.check_trace(trace)
        info = bench.run(bench.sooth, "trace", "info", trace, status=0).stdout
        expect(re.search(r"exact", info), info)
        texts.append(len(bench.races(trace)))
    expect(texts == [1, 1, 1], texts)


def without_addresses(*words):
    """The command on a machine where every run has the same addresses; None when that is not to be had."""
    prefix = ["setarch", "-R"]
    usable = shutil.which("setarch") and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    return [*prefix, *words] if usable else None


STRATEGIES = ["serial", "random", "pct:1", "pct:3", "pct:3:200"]


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


def test_schedules_repeat(bench):
    """Equal seeds give equal traces, to the last value and address."""
    programs = [[bench.build("counter.cc", "-O1"), "locks"], [bench.build("counter.cc", "-O1"), "plain"], [bench.build("queue.cc", "-O1")],
                [bench.build("spinner.cc", "-O1")]]
    for program in programs:
        for strategy in ["serial", "random", "pct:3:200"]:
            runs = {scheduled(bench, strategy, 7, *program) for _ in range(10)}
            expect(len(runs) == 1, f"{program} under {strategy}: {len(runs)} different runs of one seed")


def test_schedules_differ(bench):
    """What is lost of a counter depends on the seed, and `serial` loses nothing of one that is only wrong around its locks."""
    counter = bench.build("counter.cc", "-O1")
    for how, strategy, least in [("locks", "random", 5), ("locks", "pct:3:200", 2), ("atomics", "random", 5), ("atomics", "pct:3:100", 2),
                                 ("plain", "random", 5), ("locks", "serial", 1)]:
        outcomes = {scheduled(bench, strategy, seed, counter, how)[0] for seed in range(20)}
        expect(len(outcomes) >= least, f"{how} under {strategy}: only {outcomes}")
        expect(strategy != "serial" or outcomes == {"30\n"}, outcomes)


def test_schedules_end(bench):
    """A program that waits in loops ends under every strategy."""
    spinner = bench.build("spinner.cc", "-O1")
    for strategy in STRATEGIES:
        for seed in range(1, 6):
            expect(scheduled(bench, strategy, seed, spinner)[0] == "done\n", f"{strategy}, seed {seed}")


def test_live(bench):
    prog = bench.build("prog.cc")
    run = bench.run(bench.sooth, "analyze", "--live", "--with", "hb", "--format", "json", "-o", "live.json", "--", prog, "3", status=66)
    expect(run.stdout == "out\n" and "ended with status 3" in run.stderr, (run.stdout, run.stderr))
    with open(bench.path("live.json"), encoding="utf-8") as file:
        found = json.load(file)["findings"]
    expect(len(found) == 1 and sorted(places(found[0])) == ["prog.cc:10", "prog.cc:9"], found)
    # Far more events than fit into the buffer.
    long = bench.build("long.cc", "-O1")
    run = bench.run(bench.sooth, "analyze", "--live", "--with", "hb", "--record-filter", "off", "--live-buffer", "2M", "--", long, "100", status=0)
    expect("sum " in run.stdout and "ended with status 4" in run.stderr, (run.stdout, run.stderr))
    for words, status, error in [
            (["--live"], 64, "--live takes a program"),
            (["--live", "x.std", "--", prog], 64, "--live takes a program"),
            (["--live", "--", "./no-such-program"], 65, "No such file"),
            (["x.std", "--", prog], 64, "needs one trace")]:
        run = bench.run(bench.sooth, "analyze", *words, status=status)
        expect(error in run.stderr, run.stderr)
    bench.run("gcc", "plain.c", "-o", "plain-live", status=0)
    run = bench.run(bench.sooth, "analyze", "--live", "--", "./plain-live", status=65)
    expect("nothing was recorded" in run.stderr, run.stderr)
    busy = bench.build("busy.cc", "-O1")
    process = start(bench, bench.sooth, "analyze", "--live", "--with", "hb", "--", busy)
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    expect(f"told {signal.SIGTERM:d}\n" in out and process.returncode == 0, (out, errors, process.returncode))


def test_dlopen(bench):
    bench.build("plugin.cc", "-shared", "-fPIC", output="plugin.so")
    host = bench.build("host.cc")
    for words in [["analyze", "--live"], None]:
        if words is None:
            trace = bench.fresh("dlopen")
            bench.record("-o", trace, "--", host, "./plugin.so", status=0)
            found = bench.races(trace)
        else:
            bench.run(bench.sooth, *words, "--with", "hb", "--format", "json", "-o", "dl.json", "--", host, "./plugin.so", status=66)
            with open(bench.path("dl.json"), encoding="utf-8") as file:
                found = json.load(file)["findings"]
        expect([places(f) for f in found] == [["plugin.cc:1", "plugin.cc:1"]], found)


def test_exclude(bench):
    bench.build("plugin.cc", "-shared", "-fPIC", output="plugin.so")
    trace = bench.fresh("exclude")
    bench.record("-o", trace, "--exclude", "*/plugin.so", "--", bench.build("host.cc"), "./plugin.so", status=0)
    expect(bench.races(trace) == [], "an excluded library has a race")


def compilers():
    return ["gcc"] + [c for c in ("clang-14", "clang-19") if shutil.which(c)]


def cxx_of(compiler):
    return compiler.replace("gcc", "g++").replace("clang", "clang++")


def test_wrapper(bench):
    wrapper = [bench.sooth, "c++"]
    for compiler in compilers():
        cc = [*wrapper, f"--compiler={cxx_of(compiler)}"]
        name = f"w-{compiler}"
        bench.run(*cc, "-c", "prog.cc", "-o", f"{name}.o", status=0)
        run = bench.run(*cc, f"{name}.o", "-o", name, status=0)
        expect(run.stderr == "", run.stderr)
        expect(bench.run(f"./{name}", "3", status=3).stdout == "out\n", "does not run by itself")
        trace = bench.fresh(name)
        bench.record("-o", trace, "--", f"./{name}", "3", status=3)
        expect(len(bench.races(trace)) == 1, f"{compiler}: no race")
        for flags in [["-O2", "-flto"], ["-no-pie"], ["-fPIE", "-pie"], ["-x", "c++"], ["-fsanitize=thread"]]:
            bench.run(*cc, *flags, "prog.cc", "-o", "flagged", status=0)
            bench.run("./flagged", "3", status=3)
        with open(bench.path("args.rsp"), "w", encoding="ascii") as file:
            file.write("-c prog.cc -o 'from file.o'\n")
        bench.run(*cc, "@args.rsp", status=0)
        expect(os.path.exists(bench.path("from file.o")), "response file")
        for words in [["--version"], ["-v"], ["-dumpmachine"], ["-print-search-dirs"]]:
            ours, theirs = bench.run(*cc, *words), bench.run(cxx_of(compiler), *words)
            expect((ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr), words)
        run = bench.run(*cc, status=1)
        expect("no input files" in run.stderr, run.stderr)
        bench.run(*cc, "-E", "prog.cc", status=0)
        bench.run(*cc, "-M", "prog.cc", status=0)
        bench.run(*cc, "-###", "prog.cc", status=0)
        with open(bench.path("pre.h"), "w", encoding="ascii") as file:
            file.write("#include <cstdio>\n")
        bench.run(*cc, "pre.h", "-o", "pre.h.gch", status=0)
        bench.run(*cc, "-include", "pre.h", "-c", "prog.cc", "-o", "pre.o", status=0)
        os.remove(bench.path("pre.h.gch"))
        for flag in ["-static", "-fsanitize=address"]:
            run = bench.run(*cc, flag, "prog.cc", "-o", "refused", status=64)
            expect(flag in run.stderr and not os.path.exists(bench.path("refused")), run.stderr)
    line = bench.run(*wrapper, "--print-command", "-c", "a b.cc", status=0).stdout
    expect(re.fullmatch(r"g\+\+ -g -fsanitize=thread -idirafter \S+/include -c 'a b.cc'\n", line), line)
    run = bench.run(*wrapper, "-c", "prog.cc", "-o", "env.o", status=0, env={**os.environ, "SOOTH_CXX": "g++ -DX"})
    run = bench.run(*wrapper, "-c", "prog.cc", env={**os.environ, "SOOTH_CXX": "no-such-compiler"}, status=65)
    expect("no-such-compiler" in run.stderr, run.stderr)


def test_build_systems(bench):
    tree = bench.path("tree")
    os.makedirs(tree)
    files = {
        "lib.c": "int lib_counter; void lib_touch(void) { lib_counter++; }\n",
        "main.c": "#include <pthread.h>\nvoid lib_touch(void);\nstatic void* f(void* p) { lib_touch(); return p; }\n"
                  "int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);\n"
                  "  pthread_join(a, 0); pthread_join(b, 0); return 6; }\n",
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(t C)\nadd_library(touch SHARED lib.c)\n"
                          "find_package(Threads REQUIRED)\nadd_executable(main main.c)\n"
                          "target_link_libraries(main touch Threads::Threads)\n",
        "Makefile": "main: main.o lib.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n",
        "configure": "#!/bin/sh\nset -e\necho 'int main(void) { return 0; }' > conftest.c\n$CC conftest.c -o conftest\n./conftest\n"
                     "$CC -c conftest.c 2> conftest.err\ntest ! -s conftest.err\n"
                     "echo 'int main(void) { return no_such_thing; }' > conftest.c\nif $CC -c conftest.c 2>/dev/null; then exit 1; fi\n"
                     "printf 'CC = %s\\nmain-configured: main.c lib.c\\n\\t$(CC) -o main-configured main.c lib.c\\n' \"$CC\" > Makefile.configured\n",
    }
    for name, text in files.items():
        with open(os.path.join(tree, name), "w", encoding="ascii") as file:
            file.write(text)
    os.chmod(os.path.join(tree, "configure"), 0o755)

    def inside(*words):
        run = subprocess.run([str(w) for w in words], cwd=tree, capture_output=True, text=True, check=False, timeout=120,
                             env={**os.environ, "CC": f"{bench.sooth} cc"})
        expect(run.returncode == 0, f"{words}: {run.stdout}{run.stderr}")

    inside("cmake", "-S", ".", "-B", "out", f"-DCMAKE_C_COMPILER={bench.sooth};cc")
    inside("cmake", "--build", "out")
    inside("make", f"CC={bench.sooth} cc")
    inside("./configure")
    inside("make", "-f", "Makefile.configured")
    for program in ["tree/out/main", "tree/main", "tree/main-configured"]:
        trace = bench.fresh("built")
        bench.run(f"./{program}", status=6)
        bench.record("-o", trace, "--", f"./{program}", status=6)
        expect([places(f) for f in bench.races(trace)] == [["lib.c:1", "lib.c:1"]], f"{program}: {bench.races(trace)}")


def main(sooth, names):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tests = {k[5:]: v for k, v in globals().items() if k.startswith("test_")}
    for name in names:
        if name not in tests:
            sys.exit(f"there is no test {name}; there are: {' '.join(tests)}")
    bench = Bench(sooth)
    failed = skipped = 0
    chosen = names or list(tests)
    for name in chosen:
        try:
            tests[name](bench)
            print(f"ok       {name}")
        except Skipped as reason:
            skipped += 1
            print(f"skipped  {name}: {reason}")
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"FAILED   {name}: {error}")
        sys.stdout.flush()
    shutil.rmtree(bench.dir, ignore_errors=True)
    print(f"{len(chosen) - failed - skipped} of {len(chosen)} as expected, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1], sys.argv[2:]))
