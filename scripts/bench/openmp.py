#!/usr/bin/env python3
"""What a parallel region of OpenMP costs where one thread runs at a time: 1,000 regions of four threads, as GCC and Clang compile them.

    openmp.py --sooth build/bin/sooth [--repeat 3] [--scratch DIR]

Compares the best of a few runs of the plain program, as fast as it gets with idle threads asleep, with a serial recording of it. The goal is
five times the plain time and one second. Exits with 1 when it is missed, with 77 when no compiler has OpenMP.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = """
#include <stdio.h>
int main() {
  long sum = 0;
  for (int n = 0; n < 1000; ++n) {
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum += 1;
  }
  printf("%ld\\n", sum);
}
"""
TIMES, MORE = 5, 1.0


def seconds(command, repeat, before=lambda: None):
    best = float("inf")
    for _ in range(repeat):
        before()
        start = time.monotonic()
        answer = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        best = min(best, time.monotonic() - start)
        if answer.returncode != 0 or "4000" not in answer.stdout:
            sys.exit(f"{command[0]} failed: {answer.stdout}{answer.stderr}")
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--scratch", default=None)
    options = parser.parse_args()
    missed, measured = False, 0
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        folder = pathlib.Path(folder)
        source = folder / "regions.c"
        source.write_text(PROGRAM)
        for compiler in ("gcc", "clang-14"):
            plain, instrumented, trace = folder / f"plain-{compiler}", folder / f"instrumented-{compiler}", folder / "trace"
            build = [compiler, "-O1", "-fopenmp", source, "-o", plain]
            if not shutil.which(compiler) or subprocess.run(build, capture_output=True).returncode != 0:
                continue
            subprocess.run([options.sooth, "cc", f"--compiler={compiler}", *build[1:-1], instrumented], check=True)
            alone = seconds([plain], options.repeat)
            command = [options.sooth, "record", "--schedule", "serial", "-o", trace, "--", instrumented]
            serial = seconds(command, options.repeat, lambda: shutil.rmtree(trace, ignore_errors=True))
            goal = TIMES * alone + MORE
            print(f"{compiler:10} 1000 regions: plain {alone:.2f} s, serial recording {serial:.2f} s, goal {goal:.2f} s: {'met' if serial <= goal else 'MISSED'}")
            measured += 1
            missed = missed or serial > goal
    return 77 if measured == 0 else int(missed)


if __name__ == "__main__":
    sys.exit(main())
