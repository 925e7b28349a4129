#!/usr/bin/env python3
"""sooth record --exclude: code that is left out, and the calls of it that stand in the trace instead.

    tests/cli/calls.py SOOTH [NAME...]      all tests, or those named
"""
import json
import os
import re
import sys

from record_bench import places, run_tests
from test_loop import check

SOURCES = {
    # Two threads count under a lock of assembler, which nobody sees. `early` and `late` are races; `guarded` is none.
    "hidden.cc": r"""
        #include <pthread.h>
        #include <thread>
        struct Lock { int word, rounds; };
        int guarded, early, late;
        static Lock the_lock;
        static pthread_barrier_t both;
        extern "C" __attribute__((noipa)) void hidden_lock(Lock* lock) {
          int taken = 1;
          while (taken != 0) { taken = 1; asm volatile("xchgl %0, %1" : "+r"(taken), "+m"(lock->word) : : "memory"); }
          lock->rounds++;
        }
        extern "C" __attribute__((noipa)) void hidden_unlock(Lock* lock) {
          lock->rounds++;
          asm volatile("movl $0, %0" : "=m"(lock->word) : : "memory");
        }
        static void work() {
          early = 1;  // line 18
          pthread_barrier_wait(&both);
          for (int i = 0; i < 3; ++i) {
            hidden_lock(&the_lock);
            guarded++;
            hidden_unlock(&the_lock);
          }
          late = 1;  // line 25
        }
        int main() {
          pthread_barrier_init(&both, nullptr, 2);
          std::thread a(work), b(work);
          a.join(); b.join();
          return guarded;
        }
        """,
    # All ways into a function that is left out, and out of it.
    "ways.cc": r"""
        #include <csetjmp>
        #include <cstdlib>
        #include <cstring>
        #include <pthread.h>
        #include <stdexcept>
        #include <sys/wait.h>
        #include <thread>
        #include <unistd.h>
        #define FUNCTION extern "C" __attribute__((noipa))
        int inside, outside;
        static std::jmp_buf back;
        FUNCTION void visible() { outside++; }
        FUNCTION void left_recurse(int n) { inside++; if (n > 0) left_recurse(n - 1); inside++; }
        FUNCTION void left_callback(void (*f)()) { inside++; f(); inside++; }
        FUNCTION void through() { outside++; left_recurse(2); outside++; }
        FUNCTION void left_jump() { inside++; std::longjmp(back, 1); }
        FUNCTION void left_throw() { inside++; throw std::runtime_error("out"); }
        FUNCTION void left_thread_exit() { inside++; pthread_exit(nullptr); }
        FUNCTION int left_fork() { inside++; int p = fork(); inside++; return p; }
        FUNCTION void* left_root(void*) { inside++; return nullptr; }
        int main(int, char** argv) {
          const char* way = argv[1];
          if (!std::strcmp(way, "recurse")) left_recurse(5);
          if (!std::strcmp(way, "callback")) left_callback(visible);
          if (!std::strcmp(way, "through")) left_callback(through);
          if (!std::strcmp(way, "jump") && setjmp(back) == 0) left_jump();
          if (!std::strcmp(way, "throw")) try { left_throw(); } catch (const std::runtime_error&) { outside++; }
          if (!std::strcmp(way, "thread_exit")) std::thread([] { left_thread_exit(); }).join();
          if (!std::strcmp(way, "root")) { pthread_t t; pthread_create(&t, nullptr, left_root, nullptr); pthread_join(t, nullptr); }
          if (!std::strcmp(way, "fork")) { int p = left_fork(); visible(); if (p == 0) _exit(0); waitpid(p, nullptr, 0); }
          visible();
          left_recurse(0);
          return 0;
        }
        """,
    # What the calls touch: a block, a variable, a part of the caller's stack, and too much to remember.
    "touch.cc": r"""
        #include <cstdlib>
        #define FUNCTION extern "C" __attribute__((noipa))
        struct Pair { long first, second; } pair;
        FUNCTION void left_block(long* p) { p[3] = 1; }
        FUNCTION void left_variable() { pair.second = 1; }
        FUNCTION void left_stack(long* p) { *p = 1; }
        FUNCTION void left_much(char* p) { for (long i = 0; i < 1 << 20; i += 16) p[i] = 1; }
        int main() {
          long* block = new long[10];
          char* much = static_cast<char*>(std::malloc(1 << 20));
          long mine = 0;
          left_block(block); left_variable(); left_stack(&mine); left_much(much); left_block(block + 1);
          return 0;
        }
        """,
    "plugin.cc": 'int plugin_counter; extern "C" void touch() { plugin_counter++; }\n',
    "plugin_host.cc": r"""
        #include <dlfcn.h>
        #include <thread>
        int main(int, char** argv) {
          auto touch = reinterpret_cast<void (*)()>(dlsym(dlopen(argv[1], RTLD_NOW), "touch"));
          std::thread a([=] { touch(); }), b([=] { touch(); });
          a.join(); b.join();
          return 0;
        }
        """,
    "unseen.c": r"""
        #include <pthread.h>
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        int unseen(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
        """,
    "uses_unseen.c": "int unseen(void), x;\nint main(void) { for (int i = 0; i < 2; ++i) x += unseen(); return x; }\n",
}
EVERYTHING = "=0x0:18446744073709551615"
CALL = re.compile(r"^([^|]*)\|call(begin|end)\((.*?)\)\|[^|]*(?:\|(.*))?$")


def calls(bench, trace):
    """(thread, "begin" or "end", function, reach) of each event of a call."""
    bench.check_trace(trace)
    lines = bench.run(bench.sooth, "trace", "cat", trace, status=0).stdout.splitlines()
    return [m.groups() for m in map(CALL.match, lines) if m]


def found(bench, trace, analysis):
    run = bench.run(bench.sooth, "analyze", trace, "--with", analysis, "--format", "json", "--fail-on", "never", status=0)
    return sorted(places(f) for f in json.loads(run.stdout)["findings"])


def test_hidden_lock(bench):
    program = bench.build("hidden.cc", "-O1")
    for schedule in "os", "serial":
        trace = bench.fresh("hidden")
        run = bench.record("-o", trace, "--schedule", schedule, "--exclude", "func:hidden_*", "--", program, status=6)
        check("--with rdit" in run.stderr, run.stderr)
        check(all(reach == EVERYTHING for _, what, _, reach in calls(bench, trace) if what == "begin"), "not everything")
        check(len(calls(bench, trace)) == 24, calls(bench, trace))
        refused = bench.run(bench.sooth, "analyze", trace, "--with", "hb", status=64)
        check("was not recorded" in refused.stderr, refused.stderr)
        races = found(bench, trace, "rdit")
        check(["hidden.cc:18", "hidden.cc:18"] in races, races)
        check(all("hidden.cc:22" not in race for race in races), races)
        # The trace keeps them when it becomes another.
        bench.run(bench.sooth, "trace", "convert", trace, "-o", trace + ".converted", status=0)
        check(calls(bench, trace + ".converted") == calls(bench, trace), "converting changes calls")


def test_hidden_lock_touched(bench):
    trace = bench.fresh("touched")
    program = bench.build("hidden.cc", "-O1")
    bench.record("-o", trace, "--schedule", "serial", "--reach", "touched", "--exclude", "func:hidden_*", "--", program, status=6)
    reaches = {reach for _, what, _, reach in calls(bench, trace) if what == "begin"}
    check(len(reaches) == 1 and re.fullmatch("=0x[0-9a-f]+:8", *reaches), f"all calls reach the lock, all of it: {reaches}")
    check(found(bench, trace, "rdit") == [["hidden.cc:18", "hidden.cc:18"], ["hidden.cc:25", "hidden.cc:25"]],
           found(bench, trace, "rdit"))


def test_ways_in_and_out(bench):
    program = bench.build("ways.cc", "-O1")
    for way, first in {"recurse": "left_recurse", "callback": "left_callback", "through": "left_callback", "jump": "left_jump",
                       "throw": "left_throw", "thread_exit": "left_thread_exit", "root": "left_root", "fork": "left_fork"}.items():
        for schedule in "os", "serial":
            trace = bench.fresh("ways")
            bench.record("-o", trace, "--schedule", schedule, "--exclude", "func:left_*", "--", program, way, status=0)
            seen = [(what, function) for _, what, function, _ in calls(bench, trace)]
            check(seen == [("begin", first), ("end", first), ("begin", "left_recurse"), ("end", "left_recurse")], f"{way}: {seen}")
            if way == "fork":
                child = [n for n in os.listdir(bench.dir) if n.startswith(trace + ".")]
                seen = [(what, function) for _, what, function, _ in calls(bench, *child)]
                check(seen == [("begin", first), ("end", first)], f"child: {seen}")
            if way in ("callback", "through"):
                text = bench.run(bench.sooth, "trace", "cat", trace, status=0).stdout
                between = text[text.index("callbegin(left_callback"):text.index("callend(left_callback")]
                check(between.count("|w(") == (1 if way == "callback" else 2), between)


def test_all_is_left_out(bench):
    program = bench.build("hidden.cc", "-O1")
    for schedule in "os", "serial":
        trace = bench.fresh("all")
        bench.record("-o", trace, "--schedule", schedule, "--reach", "touched", "--exclude", "func:*", "--", program, status=6)
        begun = sorted({thread for thread, what, _, _ in calls(bench, trace) if what == "begin"})
        check(begun == ["T1", "T2", "main"], f"every thread makes calls, after it has begun: {begun}")


def test_what_calls_touch(bench):
    trace = bench.fresh("touch")
    bench.record("-o", trace, "--reach", "touched", "--exclude", "func:left_*", "--", bench.build("touch.cc", "-O1"), status=0)
    reaches = {}
    for _, what, function, reach in calls(bench, trace):
        if what == "begin":
            reaches.setdefault(function, []).append(reach)
    blocks = reaches["left_block"]
    check(len(set(blocks)) == 1 and int(blocks[0].rsplit(":", 1)[1]) >= 80, f"the whole block, whichever part is touched: {blocks}")
    check(reaches["left_variable"][0].endswith(":16"), reaches["left_variable"])
    check(reaches["left_much"] == [EVERYTHING], reaches["left_much"])
    check(reaches["left_stack"] != [EVERYTHING] and reaches["left_stack"][0], reaches["left_stack"])


def test_modules(bench):
    bench.build("plugin.cc", "-shared", "-fPIC", output="plugin.so")
    host = bench.build("plugin_host.cc")
    trace = bench.fresh("modules")
    bench.record("-o", trace, "--exclude", "*/plugin.so", "--", host, "./plugin.so", status=0)
    by_thread = sorted(calls(bench, trace), key=lambda call: call[0])  # they run at the same time
    check([c[1:3] for c in by_thread] == 2 * [("begin", "touch"), ("end", "touch")], by_thread)
    check(found(bench, trace, "rdit") == [], "a race in code that was left out")
    trace = bench.fresh("modules")
    bench.record("-o", trace, "--reach", "none", "--exclude", "*/plugin.so", "--", host, "./plugin.so", status=0)
    check(calls(bench, trace) == [], "calls although none are wanted")
    check(bench.races(trace) == [], "a race in code that was left out")


def build_unseen(bench):
    bench.run("gcc", "-shared", "-fPIC", "unseen.c", "-o", "libunseen.so", status=0)
    bench.run(bench.sooth, "cc", "uses_unseen.c", "-o", "uses_unseen", "-L.", "-lunseen", "-Wl,-rpath,$ORIGIN", status=0)
    return "./uses_unseen"


def test_code_without_hooks(bench):
    program = build_unseen(bench)
    for schedule in "os", "serial":
        trace = bench.fresh("hookless")
        bench.record("-o", trace, "--schedule", schedule, "--exclude", "*/libunseen.so", "--", program, status=0)
        # Seen by what it locks; its synchronisation stays.
        check([c[1:3] for c in calls(bench, trace)] == 2 * [("begin", "unseen"), ("end", "unseen")], calls(bench, trace))
        text = bench.run(bench.sooth, "trace", "cat", trace, status=0).stdout
        inside = text[text.index("|callbegin("):text.index("|callend(")]
        check("|acq(" in inside and "|rel(" in inside, text)


def test_what_is_told(bench):
    program = bench.build("hidden.cc", "-O1")
    told = bench.record("-o", bench.fresh("told"), "--exclude", "func:nothing_like_it", "--", program, status=6).stderr
    check("func:nothing_like_it" in told, told)
    for wrong in ["--exclude", "func:"], ["--reach", "some"]:
        bench.record("-o", bench.fresh("told"), *wrong, "--", program, status=64)
    told = bench.record("-o", bench.fresh("told"), "--", build_unseen(bench), status=0).stderr
    check("calls into libunseen.so (not instrumented) are not seen" in told, told)
    check("libc.so" not in told, told)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[1:]))
