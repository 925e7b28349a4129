#!/usr/bin/env python3
"""find_package(Sooth), sooth_instrument, sooth_add_test and `ctest -T memcheck`, in a project that uses the installed package; and a
whole project built by `sooth c++`, with tests that know nothing of Sooth.

    tests/integration/cmake_project.py BUILD     BUILD: the build directory of Sooth, with everything built
"""
import glob
import json
import os
import re
import sys

from common import SOURCE, check, install, main, run, skip_without, with_tool

BUILD = os.path.abspath(sys.argv[1])
PROJECT = os.path.join(SOURCE, "tests/integration/cmake_project")


def outcome(output, name):
    found = re.search(rf"Test +#\d+: {name} \.+ *(\**\w+)|MemCheck +#\d+: {name} \.+ *(\**\w+)", output)
    check(found is not None, f"no test {name} in\n{output}")
    return (found.group(1) or found.group(2)).strip("*")


def package(scratch):
    prefix, project = os.path.join(scratch, "prefix"), os.path.join(scratch, "build")
    install(BUILD, prefix)
    environment = with_tool(os.path.join(prefix, "bin"))
    run(["cmake", "-S", PROJECT, "-B", project, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={SOURCE}/examples",
         "-DCMAKE_CXX_FLAGS=-O1"], env=environment)
    run(["cmake", "--build", project], env=environment)
    symbols = run(["nm", os.path.join(project, "libplain_account.a")]).stdout
    check("__tsan" not in symbols, "a target that nobody named was instrumented")

    tests = run(["ctest", "-V"], cwd=project, env=environment, expect=8).stdout
    check(outcome(tests, "account") == "Failed" and outcome(tests, "tolerated") == "Passed" and outcome(tests, "good_account") == "Passed", tests)
    check("harmful data race on 'balance'" in tests, f"the report is not in the output of the test:\n{tests}")
    with open(os.path.join(project, "sooth-account.json")) as file:
        rungs = [finding["rung"] for finding in json.load(file)["findings"]]
    check(rungs == ["harmful"], f"the stored report has {rungs}")

    # ctest reads ThreadSanitizer's logs, which it asks for by TSAN_OPTIONS=log_path=...
    memcheck = run(["ctest", "-T", "memcheck", "-L", "sooth"], cwd=project, env=environment, expect=None).stdout
    check(re.search(r"Memory checking results:\s+data race - 1\s", memcheck), f"ctest does not count the race:\n{memcheck}")
    logs = glob.glob(os.path.join(project, "Testing/*/DynamicAnalysis.xml"))
    check(len(logs) == 1, f"no result of the memory check: {logs}")
    with open(logs[0]) as file:
        check(file.read().count('<Defect type="data race">1</Defect>') == 1, f"{logs[0]} does not have one data race")

    suppressions = os.path.join(scratch, "suppressions")
    with open(suppressions, "w") as file:
        file.write("race:print_balance\n")
    memcheck = run(["ctest", "-T", "memcheck", "-L", "sooth", "--overwrite", f"MemoryCheckSuppressionFile={suppressions}"], cwd=project,
                   env=environment).stdout
    check("data race" not in memcheck and outcome(memcheck, "account") == "Passed", f"the suppression is not honoured:\n{memcheck}")


def makefiles_and_ccache(scratch):
    """The other generator, a compiler launcher of the project's own, C, and a library in the program."""
    skip_without("make", "ccache")
    environment = dict(with_tool(os.path.join(BUILD, "bin")), CCACHE_DIR=os.path.join(scratch, "ccache"))
    prefix, build = os.path.join(scratch, "prefix"), os.path.join(scratch, "build")
    install(BUILD, prefix)
    with open(os.path.join(scratch, "counter.c"), "w") as file:
        file.write("#include <sooth/annotate.h>\nint counter;\nvoid count(void) { ++counter; }\n")
    with open(os.path.join(scratch, "main.cc"), "w") as file:
        file.write('#include <thread>\nextern "C" void count(void);\nint main() {\n  std::thread other(count);\n  count();\n  other.join();\n}\n')
    with open(os.path.join(scratch, "CMakeLists.txt"), "w") as file:
        file.write("cmake_minimum_required(VERSION 3.21)\nproject(p)\nenable_testing()\nfind_package(Threads REQUIRED)\nfind_package(Sooth REQUIRED)\n"
                   "add_library(counter SHARED counter.c)\nadd_executable(program main.cc)\ntarget_link_libraries(program counter Threads::Threads)\n"
                   "sooth_instrument(counter program)\nsooth_add_test(NAME races COMMAND program WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})\n")
    run(["cmake", "-S", scratch, "-B", build, "-G", "Unix Makefiles", f"-DSooth_ROOT={prefix}", "-DCMAKE_C_COMPILER_LAUNCHER=ccache",
         "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], env=environment)
    commands = run(["cmake", "--build", build, "--verbose"], env=environment).stdout
    check(re.search(r"sooth c\+\+ --launch \S*ccache \S+ ", commands), f"ccache does not compile:\n{commands}")
    tests = run(["ctest", "-V"], cwd=build, env=environment, expect=8).stdout
    check("counter.c:3:" in tests and "data race on 'counter'" in tests, f"the race in the library is not found:\n{tests}")


def mistakes(scratch):
    """Misuse of the functions is told when the project is configured."""
    for call, sentence in (("sooth_add_test(NAME t)", "needs NAME and COMMAND"), ("sooth_add_test(odd NAME t COMMAND p)", "does not know odd"), ("sooth_instrument(no_such_target)", "no_such_target")):
        with open(os.path.join(scratch, "CMakeLists.txt"), "w") as file:
            file.write(f"cmake_minimum_required(VERSION 3.21)\nproject(p LANGUAGES NONE)\nenable_testing()\nfind_package(Sooth REQUIRED)\n{call}\n")
        prefix = os.path.join(scratch, "prefix")
        if not os.path.exists(prefix):
            install(BUILD, prefix)
        result = run(["cmake", "-S", scratch, "-B", os.path.join(scratch, "build"), f"-DSooth_ROOT={prefix}"], expect=1)
        check(sentence in result.stdout.replace("\n", " "), f"{call}: {result.stdout}")


def whole_project(scratch):
    """CMAKE_CXX_COMPILER="sooth;c++", and tests started through `sooth run` by CMake's own means."""
    environment = with_tool(os.path.join(BUILD, "bin"))
    with open(os.path.join(scratch, "CMakeLists.txt"), "w") as file:
        file.write("cmake_minimum_required(VERSION 3.21)\nproject(p LANGUAGES CXX)\nenable_testing()\nfind_package(Threads REQUIRED)\n"
                   f"foreach(kind hidden norace)\n  add_executable(${{kind}} {SOURCE}/examples/bank_account_${{kind}}.cc)\n"
                   "  target_link_libraries(${kind} PRIVATE Threads::Threads)\n  add_test(NAME ${kind} COMMAND ${kind})\nendforeach()\n")
    build = os.path.join(scratch, "build")
    run(["cmake", "-S", scratch, "-B", build, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=sooth;c++",
         "-DCMAKE_CROSSCOMPILING_EMULATOR=sooth;run;--budget;60s;--"], env=environment)
    run(["cmake", "--build", build], env=environment)
    tests = run(["ctest", "--output-on-failure"], cwd=build, env=environment, expect=8).stdout
    check(outcome(tests, "hidden") == "Failed" and outcome(tests, "norace") == "Passed", tests)
    check("data race on 'balance'" in tests, tests)


main([package, makefiles_and_ccache, mistakes, whole_project])
