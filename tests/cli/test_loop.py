"""Runs the tests of a file of this folder: all of them, or those that the command line names behind SOOTH. The tests of some other folders
are run by loop(), too."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Failure(AssertionError):
    """A sentence on what went wrong."""


class Skipped(Exception):
    """The machine lacks what the test needs."""


def check(condition, what):
    if not condition:
        raise Failure(what)


def loop(tests, wanted, call, all_skipped=0):
    """`tests` by name; `wanted`: names, or none for all. call(name, test) runs one. Prints how each ends, and returns the exit status,
    which is `all_skipped` when not one was run."""
    for name in wanted:
        if name not in tests:
            sys.exit(f"there is no test {name}; there are: {' '.join(tests)}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chosen = wanted or list(tests)
    failed = skipped = 0
    for name in chosen:
        start = time.monotonic()
        try:
            call(name, tests[name])
            verdict = f"ok       {name}"
        except Skipped as reason:
            skipped += 1
            verdict = f"skipped  {name}: {reason}"
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            failed += 1
            verdict = f"FAILED   {name}: {error}"
        print(f"{verdict} ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"{len(chosen) - failed - skipped} of {len(chosen)} as expected, {skipped} skipped")
    return 1 if failed else all_skipped if skipped == len(chosen) else 0


def run(module, arguments, make_bench):
    """The functions test_NAME(bench) of a file, `module` being its names. make_bench(SOOTH) has a folder `dir`, removed at the end."""
    if not arguments:
        sys.exit(module["__doc__"].strip())
    tests = {k[5:]: v for k, v in module.items() if k.startswith("test_") and callable(v)}
    bench = make_bench(arguments[0])
    try:
        return loop(tests, arguments[1:], lambda name, test: test(bench))
    finally:
        shutil.rmtree(bench.dir, ignore_errors=True)


def run_apart(tests, arguments, usage, make_lab):
    """Functions that take a lab, each one of its own: make_lab(SOOTH, folder of the test, folder of all of them)."""
    if not arguments or arguments[0].startswith("-"):
        sys.exit(usage.strip())
    sooth = os.path.abspath(arguments[0])
    with tempfile.TemporaryDirectory(prefix="sooth-test-") as folder:
        def call(name, test):
            scratch = os.path.join(folder, name)
            os.mkdir(scratch)
            try:
                test(make_lab(sooth, scratch, folder))
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        return loop({test.__name__: test for test in tests}, arguments[1:], call)
