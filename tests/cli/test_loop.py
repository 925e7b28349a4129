"""Runs the tests of a file of this folder: functions test_NAME(bench), all of them or those that the command line names."""
import resource
import shutil
import subprocess
import sys


class Skipped(Exception):
    """The machine lacks what the test needs."""


def run(module, arguments, make_bench):
    """`module`: the names of the file. `arguments`: SOOTH, then names of tests. `make_bench(SOOTH)` has a folder `dir`, removed at the
    end. Returns the exit status."""
    if not arguments:
        sys.exit(module["__doc__"].strip())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tests = {k[5:]: v for k, v in module.items() if k.startswith("test_") and callable(v)}
    chosen = arguments[1:] or list(tests)
    for name in chosen:
        if name not in tests:
            sys.exit(f"there is no test {name}; there are: {' '.join(tests)}")
    bench = make_bench(arguments[0])
    failed = skipped = 0
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
