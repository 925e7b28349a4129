#!/usr/bin/env python3
"""sooth record and sooth analyze --live, from their command lines to statuses and recordings.

    tests/cli/record.py SOOTH [NAME...]      all tests, or those named

SOOTH_KILLS is the number of runs that are killed at a random moment (default 100), SOOTH_SEED chooses the moments.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from record_bench import places, run_tests
from test_loop import Skipped, check

SOURCES = {
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
    # Functions whose accesses lie 8 KB apart, which is what the library takes for the same place at first.
    "far_apart.cc": "#include <cstdlib>\n#include <thread>\n#define TOUCH __attribute__((noinline, aligned(8192))) void\n" + "".join(
        f"TOUCH touch{i}(int* cell) {{ ++*cell; }}\n" for i in range(12)) + r"""
        void (*const touches[])(int*) = {touch0, touch1, touch2, touch3, touch4, touch5, touch6, touch7, touch8, touch9, touch10, touch11};
        int cells[8];
        int main(int, char** argv) {
          int functions = std::atoi(argv[1]), rounds = std::atoi(argv[2]);
          auto work = [&] { for (int round = 0; round < rounds; ++round) for (int i = 0; i < functions; ++i) touches[i](&cells[round % 8]); };
          std::thread a(work);
          work();
          a.join();
        }
        """,
    # A thread is cancelled while it sleeps, and does something before it is gone. In C: see cancel_async_norace.c.
    "leaves.c": r"""
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static pthread_key_t key;
        static int counter, asleep;
        static void add(void* unused) { pthread_mutex_lock(&m); ++counter; pthread_mutex_unlock(&m); (void)unused; }
        static int is_asleep(void) { pthread_mutex_lock(&m); int is = asleep; pthread_mutex_unlock(&m); return is; }
        static void* work(void* unused) {
          pthread_setspecific(key, &key);
          pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
          pthread_mutex_lock(&m); asleep = 1; pthread_mutex_unlock(&m);
          for (;;) usleep(20000);
          return unused;
        }
        int main(void) {
          pthread_key_create(&key, add);
          for (int round = 0; round < 20; ++round) {
            pthread_t thread;
            asleep = 0;
            pthread_create(&thread, NULL, work, NULL);
            while (!is_asleep()) usleep(100);
            for (int i = 0; i < 3; ++i) add(NULL);
            pthread_cancel(thread);
            pthread_join(thread, NULL);
          }
          printf("%d\n", counter);
        }
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
}


def start(bench, *words, **more):
    """Starts a command whose program says "ready", and returns once it has."""
    process = subprocess.Popen([str(w) for w in words], cwd=bench.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, **more)
    line = process.stdout.readline()
    check(line == "ready\n", f"expected `ready`, got {line!r}{process.stderr.read() if not line else ''}")
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
        check(f"in {trace} (" in run.stderr and f"next: sooth analyze {trace}" in run.stderr, run.stderr)
        bench.check_trace(trace)
        found = bench.races(trace)
        check([places(f) for f in found] == [["prog.cc:9", "prog.cc:10"]] or [places(f) for f in found] == [["prog.cc:10", "prog.cc:9"]],
               f"{how}: {[places(f) for f in found]}")


def test_streams_untouched(bench):
    prog = bench.build("prog.cc")
    run = bench.record("-o", bench.fresh(), "--", prog, "0", status=0)
    check(run.stdout == "out\n" and run.stderr.startswith("err\n"), (run.stdout, run.stderr))
    text = "line\n" * 1000
    run = bench.run(bench.sooth, "record", "-o", bench.fresh(), "--", prog, "cat", status=0, stdin=None, input=text)
    check(run.stdout == text, "standard input did not arrive")
    odd = ["--", "-o", "a b", "", "[x,y]", "--help", "*"]
    run = bench.record("-o", bench.fresh(), "--", prog, "args", *odd, status=0)
    check(run.stdout == "".join(f"[{word}]\n" for word in odd), run.stdout)


def test_usage(bench):
    prog = bench.build("prog.cc")
    os.makedirs(bench.path("there"), exist_ok=True)
    with open(bench.path("no-exec"), "w", encoding="ascii") as file:
        file.write("x")
    cases = [
        ([], 64, "record needs a program"),
        (["--"], 64, "record needs a program"),
        (["--no-such-flag", "--", prog], 64, "--no-such-flag"),
        (["--schedule", "wild", "--", prog], 64, "--schedule: `wild` is no schedule; there are os, serial, random, pct:D, pos, surw, first:N and last:N"),
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
        check(run.stdout == "" and re.fullmatch(r"sooth: .+\n", run.stderr) and error in run.stderr, (words, run.stderr))
    check(set(os.listdir(bench.dir)) == before, "a refused recording left something behind")


def test_default_names(bench):
    prog = bench.build("prog.cc")
    for name in ["sooth-prog.trace", "sooth-prog-2.trace", "sooth-prog-3.trace"]:
        run = bench.record("--", prog, status=0)
        check(f"in {name} (" in run.stderr and os.path.exists(bench.path(f"{name}/version")), run.stderr)


def test_read_only_directory(bench):
    if os.geteuid() == 0:
        raise Skipped("root may write everywhere")
    prog = bench.build("prog.cc")
    os.makedirs(bench.path("sealed"), mode=0o555)
    run = bench.record("-o", "sealed/r", "--", prog, status=65)
    check("Permission denied" in run.stderr, run.stderr)


def test_disk_full(bench):
    long = bench.build("long.cc", "-O1")
    mount = bench.path("small")
    os.makedirs(mount)
    if os.geteuid() != 0 or bench.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount).returncode != 0:
        raise Skipped("cannot mount a small file system")
    try:
        run = bench.record("-o", "small/r", "--filter", "off", "--", long, status=4)
        check(run.stdout.startswith("sum "), run.stdout)
        check("disk" in run.stderr or "No space" in run.stderr, run.stderr)
        shutil.copytree(bench.path("small/r"), bench.path("full-copy"))
        bench.check_trace("full-copy")
        # There is room for events, but none for the places that they are from; then for neither.
        for left, begun in ((300, True), (40, False)):
            shutil.rmtree(bench.path("small/r"))
            with open(bench.path("small/fill"), "wb") as file:
                file.truncate(0)
                os.posix_fallocate(file.fileno(), 0, (1024 - left) << 10)
            run = bench.record("-o", "small/r", "--", long, status=4)
            check(run.stdout.startswith("sum "), run.stdout)
            check(("the disk was full" if begun else "the disk is full") in run.stderr, run.stderr)
            if begun:
                shutil.copytree(bench.path("small/r"), bench.path("begun"))
                bench.check_trace("begun")
    finally:
        bench.run("umount", mount, status=0)


def test_scripts_and_children(bench):
    prog = bench.build("prog.cc")
    with open(bench.path("script"), "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{prog} 0 && {prog} 1\nexit 5\n")
    os.chmod(bench.path("script"), 0o755)
    trace = bench.fresh("script")
    run = bench.record("-o", trace, "--", "./script", status=5)
    made = sorted(n for n in os.listdir(bench.dir) if n.startswith(trace))
    check(len(made) == 2 and re.fullmatch(re.escape(trace) + r"\.\d+(\.\d+)?", made[1]), made)
    for name in made:
        check(os.path.exists(bench.path(f"{name}/version")), f"{name} is not whole: {run.stderr}")
        check(len(bench.races(name)) == 1, name)
    forker = bench.build("forker.cc")
    trace = bench.fresh("forker")
    bench.record("-o", trace, "--", forker, status=1)
    made = [n for n in os.listdir(bench.dir) if n.startswith(trace)]
    check(len(made) == 2, made)
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
        check(process.returncode == 128 + 9, f"kill {number}: status {process.returncode}")
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
    check(rest == f"told {signal.SIGTERM:d}\n", rest)
    bench.check_trace(trace)


def test_signals(bench):
    busy = bench.build("busy.cc", "-O1")
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]:
        trace = bench.fresh("signal")
        process = start(bench, bench.sooth, "record", "-o", trace, "--", busy)
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
        check(out == f"told {number:d}\n" and process.returncode == 9, (number, out, errors, process.returncode))
        bench.check_trace(trace)
    # As from a terminal: the whole group gets it.
    process = start(bench, bench.sooth, "record", "-o", bench.fresh("signal"), "--", busy, start_new_session=True)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    check(out == f"told {signal.SIGINT:d}\n" and process.returncode == 9, (out, errors))
    # A parent that ignores its children does not make us lose the status.
    run = bench.run(bench.sooth, "record", "-o", bench.fresh("signal"), "--", bench.build("prog.cc"), "3", status=3,
                    preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    check("next: sooth analyze" in run.stderr, run.stderr)


def test_stop_signal(bench):
    busy = bench.build("busy.cc", "-O1")
    trace = bench.fresh("stopped")
    process = start(bench, bench.sooth, "record", "-o", trace, "--", busy)
    process.send_signal(signal.SIGUSR2)
    time.sleep(0.2)  # what the program does now must not show; nothing depends on how much it is
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    check(out == f"told {signal.SIGTERM:d}\n" and process.returncode == 9, (out, errors))
    check("stopped by SIGUSR2" in errors, errors)
    bench.check_trace(trace)


def test_leaves_a_wait(bench):
    """Of a thread that does not come back from a wait in which it got its turn, what it does next stands where it happened."""
    program = bench.build("leaves.c", wrapper="cc")
    for seed in (1, 2, 3):
        trace = bench.fresh("leaves")
        done = bench.record("-o", trace, "--schedule", "random", "--seed", seed, "--", program, status=0)
        check(done.stdout == "80\n", done.stdout)
        bench.check_trace(trace)


def test_max_trace(bench):
    long = bench.build("long.cc", "-O1")
    trace = bench.fresh("limit")
    run = bench.record("-o", trace, "--filter", "off", "--max-trace", "500k", "--", long, status=4)
    check(run.stdout.startswith("sum ") and "--max-trace" in run.stderr, (run.stdout, run.stderr))
    bench.check_trace(trace)
    size = os.path.getsize(bench.path(f"{trace}/streams"))
    check(size <= 600_000, f"{size} bytes")


def test_sites_far_apart(bench):
    """Sites that take turns do not push each other out of what the library remembers, as long as it has room; where it has not, all are told."""
    program = bench.build("far_apart.cc", "-O1")

    def accesses(functions, rounds, *more):
        trace = bench.fresh("apart")
        bench.record("-o", trace, *more, "--", program, functions, rounds, status=0)
        bench.check_trace(trace)
        text = bench.run(bench.sooth, "trace", "info", trace, status=0).stdout
        return trace, sum(int(number) for number in re.findall(r"(\d+)  (?:read|write)\n", text))

    _, count = accesses(4, 1000)
    check(count < 1000, f"{count} accesses of two threads with four functions and 8 variables")
    for more in (["--filter", "off"], ["--schedule", "serial"]):
        trace, count = accesses(12, 20, *more)
        check(count >= 12 * 20 * 4, f"{count} accesses {more}")
    for more in ([], ["--filter", "tree:hb"]):
        trace, _ = accesses(12, 100, *more)
        lines = {place for finding in bench.races(trace, "--witness-events", "0") for place in places(finding)}
        check(lines == {f"far_apart.cc:{line}" for line in range(4, 16)}, (more, lines))


def test_greedy_programs(bench):
    """What a program takes away (descriptors, memory, room) changes the recording, never the program."""
    greedy = bench.build("greedy.cc", "-O1")
    runs = [["close"], ["closefrom"], ["dup2"], ["file"]] + [["memory", str(size)] for size in (0, 500, 1500, 4000, 20000)]
    for schedule in "os", "serial":
        for arguments in runs:
            trace = bench.fresh("greedy")
            run = bench.record("-o", trace, "--schedule", schedule, "--", greedy, *arguments, status=0)
            check(run.stdout == "0 done\n", (arguments, schedule, run.stdout, run.stderr))
            bench.check_trace(trace)
            if arguments[0] in ("close", "closefrom", "dup2"):
                check("ends before" not in run.stderr and bench.races(trace), (arguments, schedule, run.stderr))


def test_live(bench):
    prog = bench.build("prog.cc")
    run = bench.run(bench.sooth, "analyze", "--live", "--with", "hb", "--format", "json", "-o", "live.json", "--", prog, "3", status=66)
    check(run.stdout == "out\n" and "ended with status 3" in run.stderr, (run.stdout, run.stderr))
    with open(bench.path("live.json"), encoding="utf-8") as file:
        found = json.load(file)["findings"]
    check(len(found) == 1 and sorted(places(found[0])) == ["prog.cc:10", "prog.cc:9"], found)
    # Far more events than fit into the buffer.
    long = bench.build("long.cc", "-O1")
    run = bench.run(bench.sooth, "analyze", "--live", "--with", "hb", "--record-filter", "off", "--live-buffer", "2M", "--", long, "100", status=0)
    check("sum " in run.stdout and "ended with status 4" in run.stderr, (run.stdout, run.stderr))
    for words, status, error in [
            (["--live"], 64, "--live takes a program"),
            (["--live", "x.std", "--", prog], 64, "--live takes a program"),
            (["--live", "--", "./no-such-program"], 65, "No such file"),
            (["x.std", "--", prog], 64, "needs one trace")]:
        run = bench.run(bench.sooth, "analyze", *words, status=status)
        check(error in run.stderr, run.stderr)
    bench.run("gcc", "plain.c", "-o", "plain-live", status=0)
    run = bench.run(bench.sooth, "analyze", "--live", "--", "./plain-live", status=65)
    check("nothing was recorded" in run.stderr, run.stderr)
    busy = bench.build("busy.cc", "-O1")
    process = start(bench, bench.sooth, "analyze", "--live", "--with", "hb", "--", busy)
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    check(f"told {signal.SIGTERM:d}\n" in out and process.returncode == 0, (out, errors, process.returncode))


def test_live_interrupted(bench):
    """Once the program is over, a signal ends the analyses and gives the report so far."""
    long = bench.build("long.cc", "-O1")
    process = subprocess.Popen([bench.sooth, "analyze", "--live", "--with", "hb,hybrid,lockset,wcp,syncp,cp", "--record-filter", "off", "--live-buffer", "1G",
                                "--format", "json", "-o", "interrupted.json", "--", long, "160"], cwd=bench.dir, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    wait_until(lambda: read(children).split() and "sooth" not in read(f"/proc/{read(children).split()[0]}/comm"), "there is no program")
    program = read(children).split()[0]
    process.send_signal(signal.SIGSTOP)  # so that much is left to analyse when the program is over
    wait_until(lambda: read(f"/proc/{program}/stat").rpartition(")")[2].split()[0] == "Z", "the program does not end")
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: not os.path.exists(f"/proc/{program}"), "nobody waits for the program")
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    check(process.returncode == 0 and "ended with status 4" in errors, (out, errors, process.returncode))
    check("Interrupted: only the first" in read(bench.path("interrupted.json")), "the report does not say that it was interrupted")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def wait_until(done, complaint, seconds=60):
    end = time.monotonic() + seconds
    while not done():
        check(time.monotonic() < end, complaint)
        time.sleep(0.002)


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
        check([places(f) for f in found] == [["plugin.cc:1", "plugin.cc:1"]], found)


def test_exclude(bench):
    bench.build("plugin.cc", "-shared", "-fPIC", output="plugin.so")
    trace = bench.fresh("exclude")
    bench.record("-o", trace, "--reach", "none", "--exclude", "*/plugin.so", "--", bench.build("host.cc"), "./plugin.so", status=0)
    check(bench.races(trace) == [], "an excluded library has a race")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[1:]))
