#!/usr/bin/env python3
"""Two iterations of an OpenMP loop write one variable, and only where one chunk ends and the next begins. Found in one recording with 2 threads and with 64;
and nothing is found where the two are in one chunk.

    openmp_borders.py --sooth build/bin/sooth
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
#include <stdio.h>
int total, value[1024];
int main() {
#pragma omp parallel for schedule(SCHEDULE)
  for (int i = 0; i < 1024; ++i) {
    value[i] = i;
    if (i == FIRST || i == FIRST + 1) total = i;
  }
  printf("%d\\n", total >= FIRST);
}
"""
# Chunks of static loops have 512 iterations with two threads, 16 with 64.
CASES = [("static", 511, True), ("static", 512, False), ("dynamic", 512, True), ("dynamic, 8", 519, True), ("dynamic, 8", 520, False)]


def check(sooth, folder, compiler, schedule, first, races):
    source, program = folder / "loop.c", folder / "loop"
    source.write_text(PROGRAM.replace("SCHEDULE", schedule).replace("FIRST", str(first)))
    build = [sooth, "cc", f"--compiler={compiler}", "-O1", "-g", "-fopenmp", source, "-o", program]
    if subprocess.run(build, capture_output=True).returncode != 0:
        return None
    failures = []
    for threads in ("2", "64"):
        trace, report = folder / f"trace-{threads}", folder / "report.json"
        subprocess.run(["rm", "-rf", trace], check=True)
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        subprocess.run([sooth, "record", "--schedule", "serial", "-o", trace, "--", program], check=True, capture_output=True, env=environment, timeout=100)
        subprocess.run([sooth, "analyze", trace, "--format", "json", "--fail-on", "never", "-o", report], check=True, capture_output=True, timeout=100)
        found = [each["rung"] for each in json.loads(report.read_text())["findings"]]
        if bool(found) != races:
            failures.append(f"{compiler}, schedule({schedule}), iterations {first} and {first + 1}, {threads} threads: {found or 'nothing found'}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    sooth = parser.parse_args().sooth
    failures, checked = [], 0
    for compiler in ("gcc", "clang-14"):
        for case in CASES:
            with tempfile.TemporaryDirectory() as folder:
                answer = check(sooth, pathlib.Path(folder), compiler, *case)
            checked += answer is not None
            failures += answer or []
    print("\n".join(failures) or f"{checked} loops, each with 2 and 64 threads: as expected")
    return 1 if failures or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
