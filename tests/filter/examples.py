#!/usr/bin/env python3
"""No filter of `sooth analyze` changes a pair of an analysis that it is for, in any recorded example.

    examples.py --sooth build/bin/sooth

Records every program of examples/ once, with all its accesses, and has tests/golden/run.py compare each mode and each analysis with the
analysis alone.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/bench"))
import recorded_programs  # noqa: E402  (its folder comes first)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    sooth = parser.parse_args().sooth
    with tempfile.TemporaryDirectory(prefix="sooth-filter-") as folder:
        scratch, traces = pathlib.Path(folder) / "recorded", pathlib.Path(folder) / "traces"
        scratch.mkdir()
        traces.mkdir()
        count = 0
        for recording in recorded_programs.recordings(sooth, scratch, scratch, real=False):
            subprocess.run([sooth, "trace", "convert", str(recording.trace), str(traces / recording.name)], check=True,
                           stdout=subprocess.DEVNULL)
            count += 1
        print(f"{count} examples recorded", flush=True)
        return subprocess.run([sys.executable, str(ROOT / "tests/golden/run.py"), "--sooth", sooth, "--traces", str(traces)],
                              check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
