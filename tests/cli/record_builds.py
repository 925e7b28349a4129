#!/usr/bin/env python3
"""What was built how, and whether it can be recorded: the compiler wrappers, stock compilers, build systems.

    tests/cli/record_builds.py SOOTH [NAME...]      all tests, or those named
"""
import os
import re
import shutil
import stat
import subprocess
import sys

from record_bench import places, run_tests
from test_loop import check


def compilers():
    return ["gcc"] + [c for c in ("clang-14", "clang-19") if shutil.which(c)]


def cxx_of(compiler):
    return compiler.replace("gcc", "g++").replace("clang", "clang++")


def test_what_cannot_be_recorded(bench):
    bench.run("gcc", "plain.c", "-o", "plain", status=0)
    run = bench.record("--", "./plain", status=2)
    check(run.stdout == "plain\n", run.stdout)
    check("./plain is not instrumented" in run.stderr and "sooth c++" in run.stderr and "nothing was recorded" in run.stderr,
           run.stderr)
    check(not os.path.exists(bench.path("sooth-plain.trace")), "an empty recording")
    bench.run("gcc", "-static", "plain.c", "-o", "static", status=0)
    run = bench.record("--", "./static", status=64)
    check("linked statically" in run.stderr, run.stderr)
    if bench.run("gcc", "-fsanitize=thread", "-static-libtsan", "plain.c", "-o", "static-tsan").returncode == 0:
        run = bench.record("--", "./static-tsan", status=64)
        check("-static-libtsan" in run.stderr and "sooth c++" in run.stderr, run.stderr)
    shutil.copy(bench.path("plain"), bench.path("setuid"))
    os.chmod(bench.path("setuid"), stat.S_ISUID | 0o755)
    run = bench.record("--", "./setuid", status=64)
    check("setuid" in run.stderr, run.stderr)


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
        check(len(bench.races(trace)) == 1, f"{command}: {bench.races(trace)}")


def test_wrapper(bench):
    wrapper = [bench.sooth, "c++"]
    for compiler in compilers():
        cc = [*wrapper, f"--compiler={cxx_of(compiler)}"]
        name = f"w-{compiler}"
        bench.run(*cc, "-c", "prog.cc", "-o", f"{name}.o", status=0)
        run = bench.run(*cc, f"{name}.o", "-o", name, status=0)
        check(run.stderr == "", run.stderr)
        check(bench.run(f"./{name}", "3", status=3).stdout == "out\n", "does not run by itself")
        trace = bench.fresh(name)
        bench.record("-o", trace, "--", f"./{name}", "3", status=3)
        check(len(bench.races(trace)) == 1, f"{compiler}: no race")
        for flags in [["-O2", "-flto"], ["-no-pie"], ["-fPIE", "-pie"], ["-x", "c++"], ["-fsanitize=thread"]]:
            bench.run(*cc, *flags, "prog.cc", "-o", "flagged", status=0)
            bench.run("./flagged", "3", status=3)
        with open(bench.path("args.rsp"), "w", encoding="ascii") as file:
            file.write("-c prog.cc -o 'from file.o'\n")
        bench.run(*cc, "@args.rsp", status=0)
        check(os.path.exists(bench.path("from file.o")), "response file")
        for words in [["--version"], ["-v"], ["-dumpmachine"], ["-print-search-dirs"]]:
            ours, theirs = bench.run(*cc, *words), bench.run(cxx_of(compiler), *words)
            check((ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr), words)
        run = bench.run(*cc, status=1)
        check("no input files" in run.stderr, run.stderr)
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
            check(flag in run.stderr and not os.path.exists(bench.path("refused")), run.stderr)
    line = bench.run(*wrapper, "--print-command", "-c", "a b.cc", status=0).stdout
    check(re.fullmatch(r"g\+\+ -g -fsanitize=thread( -fno-builtin-\w+)+ -Wno-tsan -idirafter \S+/include -c 'a b.cc'\n", line), line)
    run = bench.run(*wrapper, "-c", "prog.cc", "-o", "env.o", status=0, env={**os.environ, "SOOTH_CXX": "g++ -DX"})
    run = bench.run(*wrapper, "-c", "prog.cc", env={**os.environ, "SOOTH_CXX": "no-such-compiler"}, status=65)
    check("no-such-compiler" in run.stderr, run.stderr)


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
        check(run.returncode == 0, f"{words}: {run.stdout}{run.stderr}")

    inside("cmake", "-S", ".", "-B", "out", f"-DCMAKE_C_COMPILER={bench.sooth};cc")
    inside("cmake", "--build", "out")
    inside("make", f"CC={bench.sooth} cc")
    inside("./configure")
    inside("make", "-f", "Makefile.configured")
    for program in ["tree/out/main", "tree/main", "tree/main-configured"]:
        trace = bench.fresh("built")
        bench.run(f"./{program}", status=6)
        bench.record("-o", trace, "--", f"./{program}", status=6)
        check([places(f) for f in bench.races(trace)] == [["lib.c:1", "lib.c:1"]], f"{program}: {bench.races(trace)}")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[1:]))
