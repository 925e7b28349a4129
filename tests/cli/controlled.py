"""What the tests of commands that run programs under control share: a scratch directory, small programs, and the loop over tests."""
import os
import subprocess
import sys
import tempfile
import textwrap

import test_loop
from test_loop import Failure

SOURCES = {
    # Increments under a lock that is let go in between; how many are lost is up to the schedule. -DMORE locks once more.
    "counter.cc": r"""
        #include <cstdio>
        #include <cstdlib>
        #include <mutex>
        #include <thread>
        static std::mutex m;
        static int counter;
        static int get() { std::lock_guard<std::mutex> guard(m); return counter; }
        static void put(int value) { std::lock_guard<std::mutex> guard(m); counter = value; }
        static void work(int rounds) {
          for (int i = 0; i < rounds; ++i) put(get() + 1);
        #ifdef MORE
          get();
        #endif
        }
        int main(int argc, char** argv) {
          const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
          std::thread a(work, rounds), b(work, rounds), c(work, rounds);
          a.join(); b.join(); c.join();
          std::printf("%d\n", counter);
          return 0;
        }
        """,
    # How it ends depends on who comes first: fine, an assertion, a deadlock, status 3 or, with an argument, a loop without end.
    "ends.cc": r"""
        #include <atomic>
        #include <cassert>
        #include <cstdlib>
        #include <mutex>
        #include <thread>
        static std::mutex a, b, turns;
        static int turn, arrived[3];
        static int arrive() { std::lock_guard<std::mutex> guard(turns); return turn++; }
        static void first() { arrived[0] = arrive(); std::scoped_lock<std::mutex> x(a); std::scoped_lock<std::mutex> y(b); }
        static void second() { arrived[1] = arrive(); std::scoped_lock<std::mutex> x(b); std::scoped_lock<std::mutex> y(a); }
        static void third() { arrived[2] = arrive(); }
        int main(int argc, char**) {
          std::thread t(first), u(second), v(third);
          t.join(); u.join(); v.join();
          if (argc > 1 && arrived[2] == 0) for (;;) {}
          assert(!(arrived[2] == 0 && arrived[1] == 1));
          if (arrived[2] == 1) std::exit(3);
          return 0;
        }
        """,
    # Its own streams, arguments and ends.
    "streams.cc": r"""
        #include <csignal>
        #include <cstdio>
        #include <cstdlib>
        #include <cstring>
        #include <thread>
        int main(int argc, char** argv) {
          std::thread([] {}).join();
          if (argc > 1 && !std::strcmp(argv[1], "cat")) { int c; while ((c = std::getchar()) != EOF) std::putchar(c); return 0; }
          if (argc > 1 && !std::strcmp(argv[1], "segv")) std::raise(SIGSEGV);
          std::fprintf(stderr, "err\n");
          std::printf("out\n");
          return argc > 1 ? std::atoi(argv[1]) : 0;
        }
        """,
    # The racing code is that of the standard library.
    "library.cc": r"""
    #include <thread>
    #include <vector>
    static std::vector<int> orders(4);
    int main() {
      std::vector<int>::size_type seen = 0;
      std::thread shop([] { orders.resize(2); });
      std::thread office([&] { seen = orders.size(); });
      shop.join();
      office.join();
      return seen > 4;
    }
    """,
    # Two threads that access a variable without a lock.
    "race.cc": r"""
        #include <cstdio>
        #include <thread>
        static volatile int shared;
        static void writer() { shared = 1; }
        static int seen;
        static void reader() { seen = shared; }
        int main() {
          std::thread a(writer), b(reader);
          a.join(); b.join();
          std::printf("%d\n", seen);
          return 0;
        }
        """,
}


class Bench:
    """A scratch directory with the programs in it, built when first used."""

    def __init__(self, sooth):
        self.sooth = os.path.abspath(sooth)
        self.dir = tempfile.mkdtemp(prefix="sooth-controlled-")

    def path(self, name):
        return os.path.join(self.dir, name)

    def program(self, name, *flags):
        binary = "./" + name + "".join(flags)
        if not os.path.exists(self.path(binary)):
            with open(self.path(name + ".cc"), "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(SOURCES[name + ".cc"]))
            self.run("c++", "-O1", *flags, name + ".cc", "-o", binary, status=0)
        return binary

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run(self, *words, status=None, stdin=None, limit=120):
        """Runs sooth in the scratch directory."""
        done = subprocess.run([self.sooth, *map(str, words)], cwd=self.dir, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=limit, check=False)
        if status is not None and done.returncode != status:
            raise Failure(f"sooth {' '.join(map(str, words))}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done


def main(module):
    """Runs the functions test_* of the module: all, or those that the command line names."""
    sys.exit(test_loop.run(vars(module), sys.argv[1:], Bench))
