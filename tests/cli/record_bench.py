"""What the tests of recordings share: programs in a directory of their own, and how tests are run.

Every test file gives its tests to run_tests(): functions test_NAME(bench). A test whose means are missing (clang, root for a small disk)
raises Skipped.
"""
import json
import os
import subprocess
import tempfile
import textwrap

import test_loop
from test_loop import Failure

# For all of them; a test file brings more.
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
    "plain.c": "#include <stdio.h>\nint main(void) { puts(\"plain\"); return 2; }\n",
}


class Bench:
    """A directory with the programs, built when first asked for."""

    def __init__(self, sooth, sources):
        self.sooth = os.path.abspath(sooth)
        self.dir = tempfile.mkdtemp(prefix="sooth-record-")
        for name, text in {**SOURCES, **sources}.items():
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
            raise Failure(f"{' '.join(map(str, words))}: status {run.returncode}, expected {status}\n"
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


def run_tests(module, arguments):
    """Runs the tests of a file, SOOTH and the names of some of them being its arguments; returns the exit status."""
    return test_loop.run(module, arguments, lambda sooth: Bench(sooth, module.get("SOURCES", {})))
