#!/usr/bin/env python3
"""Builds and records small programs with `sooth c++ --deep`, and hands mutated versions of their code to what works with it.

    tests/fuzz/fuzz_deep.py SOOTH FUZZ_DEEP [--iterations N] [--seed S]

N cases in all, spread over the recordings. Then a few of them through the command line itself.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
RECORDINGS = {
    "figure": (["-O1", "-g"], [os.path.join(TESTS, "recipe", "programs", "figure_1.cc")]),
    "features": (["-O1"], [os.path.join(TESTS, "deep", "features.cc"), os.path.join(TESTS, "deep", "other.cc")]),
    "detours": (["-O0", "-g"], [os.path.join(TESTS, "recipe", "programs", "figure_7.cc")]),
}


def record(sooth, folder, name):
    flags, sources = RECORDINGS[name]
    program, trace = os.path.join(folder, name), os.path.join(folder, name + ".trace")
    subprocess.run([sooth, "c++", "--deep", *flags, *sources, "-o", program, "-pthread"], check=True, capture_output=True)
    subprocess.run([sooth, "record", "--schedule", "serial", "-o", trace, "--", program], capture_output=True, timeout=60)
    return trace


def through_the_command_line(sooth, fuzz, trace, folder, seed, count):
    """The file of some cases, in a copy of the recording: an exit status that means something, and one line of plain text."""
    failed = 0
    copy = os.path.join(folder, "copy")
    shutil.copytree(trace, copy)
    for case in range(count):
        subprocess.run([fuzz, trace, "--seed", str(seed), "--only", str(case), "--keep", os.path.join(copy, "deep")],
                       capture_output=True, timeout=120)
        for command in (["trace", "check"], ["analyze", "--with", "recipe", "--fail-on", "never", "-o", os.devnull]):
            run = subprocess.run([sooth, *command, copy], capture_output=True, timeout=300)
            plain = run.stderr.decode(errors="replace").isprintable() or run.stderr.count(b"\n") == 1 and run.stderr[:-1].decode(errors="replace").isprintable()
            if run.returncode not in (0, 65) or (run.returncode == 65 and not plain):
                failed += 1
                print(f"case {case}: `sooth {' '.join(command)}` ended with {run.returncode}: {run.stderr!r}")
    return failed


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("sooth")
    parser.add_argument("fuzz")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sooth-fuzz-deep-") as folder:
        for name in RECORDINGS:
            trace = record(options.sooth, folder, name)
            run = subprocess.run([options.fuzz, trace, "--iterations", str(options.iterations // len(RECORDINGS)), "--seed", str(options.seed)])
            failed += run.returncode != 0
        failed += through_the_command_line(options.sooth, options.fuzz, trace, folder, options.seed, 12)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
