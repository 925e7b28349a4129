#!/usr/bin/env python3
"""The functions whose effects recipe takes to be events are those that the run time library stands in for.

    recorded_functions.py LIBRARY...
"""
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src/recipe/opaque/opaque_calls.cc"


def main():
    listed = re.search(r"kRecorded\[\] = \{(.*?)\};", SOURCE.read_text(), re.DOTALL)
    names = re.findall(r'"(\w+)"', listed[1])
    for library in sys.argv[1:]:
        symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        defined = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
        missing = [name for name in names if name not in defined]
        if missing or not names:
            sys.exit(f"{library} does not define {', '.join(missing) or 'anything that is asked for'}")
    print(f"{len(names)} functions in {len(sys.argv) - 1} libraries")


if __name__ == "__main__":
    main()
