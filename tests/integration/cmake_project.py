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

from common import SOURCE, check, install, main, run, with_tool

BUILD = os.path.abspath(sys.argv[1])
PROJECT = os.path.join(SOURCE, "tests/integration/cmake_project")


def outcome(output, name):
    found = re.search(rf"Test +#\d+: {name} \.+ *(\**\w+)|Memory Check +#\d+: {name} \.+ *(\**\w+)", output)
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
    check("confirmed data race on 'balance'" in tests, f"the report is not in the output of the test:\n{tests}")
    with open(os.path.join(project, "sooth-account.json")) as file:
        rungs = [finding["rung"] for finding in json.load(file)["findings"]]
    check(rungs == ["confirmed"], f"the stored report has {rungs}")

    # ctest reads ThreadSanitizer's logs, which it asks for by TSAN_OPTIONS=log_path=...
    memcheck = run(["ctest", "-T", "memcheck", "-L", "sooth"], cwd=project, env=environment, expect=None).stdout
    check(re.search(r"Memory checking results:\s+data race - 1\s", memcheck), f"ctest does not count the race:\n{memcheck}")
    logs = glob.glob(os.path.join(project, "Testing/*/DynamicAnalysis.xml"))
    check(len(logs) == 1, f"no result of the memory check: {logs}")
    with open(logs[0]) as file:
        check(file.read().count('<Defect type="data race">1</Defect>') == 1, f"{logs[0]} does not have one data race")


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


main([package, whole_project])
