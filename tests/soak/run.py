#!/usr/bin/env python3
"""Memory of `sooth analyze --live` does not grow with a program that runs on and on.

    tests/soak/run.py --sooth build/bin/sooth [--seconds 600] [--with hb,wcp,syncp,deadlock]

Runs soak.cc under each analysis alone and looks at its memory every half second. Memory is flat when what it takes at most in the last third
of the time is no more than a tenth, and 8 MB, above that of the third before. Prints a line for each; exits with 1 when one is not flat."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SLACK = 8 << 20


def resident(pid):
    """Bytes, 0 when the process is over."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            found = re.search(r"VmRSS:\s+(\d+) kB", file.read())
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(found[1]) * 1024 if found else 0


def soak(sooth, program, analysis, seconds):
    """The samples of the memory, as (seconds since the start, bytes), and what the program said."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen([sooth, "analyze", "--live", "--with", analysis, "--", program, str(seconds)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8")
        samples = []
        begin = time.monotonic()
        while process.poll() is None:
            samples.append((time.monotonic() - begin, resident(process.pid)))
            time.sleep(0.5)
        out = process.stdout.read()
        if process.returncode != 0 or "short threads" not in out:
            errors.seek(0)
            sys.exit(f"soak: {analysis} ended with {process.returncode}: {out[-2000:]}{errors.read()[-2000:]}")
    return samples, re.search(r"(\d+) short threads", out)[1]


def peak(samples, begin, end):
    return max((memory for at, memory in samples if begin <= at < end), default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--with", dest="analyses", default="hb,wcp,syncp,deadlock")
    options = parser.parse_args()
    grown = []
    with tempfile.TemporaryDirectory(prefix="sooth-soak-") as folder:
        program = os.path.join(folder, "soak")
        subprocess.run([options.sooth, "c++", "-std=c++20", "-O1", "-g", os.path.join(HERE, "soak.cc"), "-o", program, "-pthread"], check=True)
        for analysis in options.analyses.split(","):
            samples, threads = soak(options.sooth, program, analysis, options.seconds)
            before = peak(samples, options.seconds / 3, options.seconds * 2 / 3)
            after = peak(samples, options.seconds * 2 / 3, options.seconds)
            flat = 0 < after <= before * 1.1 + SLACK
            print(f"{analysis:<10} {options.seconds:>5} s  {threads:>8} threads  second third {before / 1e6:8.1f} MB  last third {after / 1e6:8.1f} MB"
                  f"  {'flat' if flat else 'GROWS'}", flush=True)
            grown += [] if flat else [analysis]
    sys.exit(f"soak: memory grows with {', '.join(grown)}" if grown else 0)


if __name__ == "__main__":
    main()
