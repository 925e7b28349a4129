#!/usr/bin/env python3
"""Meson: a project compiled by `sooth c++`, and one that Meson itself built for ThreadSanitizer; tests under `sooth run`.

    tests/integration/meson_project.py SOOTH
"""
import os
import re
import shutil
import sys

from common import SOURCE, check, main, run, skip_without, with_tool

SOOTH = os.path.abspath(sys.argv[1])
ENVIRONMENT = with_tool(os.path.dirname(SOOTH))


def check_tests(scratch, setup, test, environment):
    skip_without("meson", "ninja")
    source, build = os.path.join(scratch, "source"), os.path.join(scratch, "build")
    shutil.copytree(os.path.join(SOURCE, "tests/integration/meson_project"), source)
    run(["meson", "setup", build, source, f"-Dexamples={SOURCE}/examples", *setup], env=environment)
    run(["meson", "compile", "-C", build], env=environment)
    # Alone the programs are as ever: meson says ok.
    run(["meson", "test", "-C", build, "good_account"], env=environment)
    tests = run(["meson", "test", "-C", build, *test, "--print-errorlogs"], env=environment, expect=1).stdout
    check(re.search(r"\baccount +FAIL +.*exit status 66", tests) and re.search(r"good_account +OK", tests), tests)
    check("data race on 'balance'" in tests, tests)


def compiled_by_sooth(scratch):
    check_tests(scratch, [], ["--setup", "sooth"], dict(ENVIRONMENT, CXX="sooth c++"))


def compiled_for_thread_sanitizer(scratch):
    check_tests(scratch, ["-Db_sanitize=thread", "-Db_lundef=false"], ["--wrapper", "sooth run --budget 60s --", "--timeout-multiplier", "10"], dict(ENVIRONMENT, CXX="g++"))


main([compiled_by_sooth, compiled_for_thread_sanitizer])
