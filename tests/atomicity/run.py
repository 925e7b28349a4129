#!/usr/bin/env python3
"""Programs without a race, in which what should be one critical section is two.

    run.py --sooth build/bin/sooth [--all] [--budget SECONDS] [NAME ...]

Each is compiled twice. As it is, `sooth run` must report a violation of atomicity on the rung `harmful`, no race, and a command that repeats it. With REPAIRED
defined, nothing may stand above `suspected`. Without --all and without names, a handful of them: the short test.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
QUICK = ["bank_transfer", "map_insert", "two_halves", "upgrade"]


def execute(folder, *command):
    """The process; whatever takes more than five minutes is wrong."""
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def report_of(sooth, source, repaired, budget, folder):
    """The findings of `sooth run`, its text, and the program. Raises a sentence."""
    program = folder / (source.stem + ("_repaired" if repaired else ""))
    built = execute(folder, sooth, "c++", "-std=c++20", "-g", "-O1", "-pthread", *(["-DREPAIRED"] if repaired else []), source, "-o", program)
    if built.returncode != 0:
        raise RuntimeError(f"does not compile: {built.stderr}")
    store = folder / f"{program.name}.json"
    text = folder / f"{program.name}.txt"
    run = execute(folder, sooth, "run", "--budget", f"{budget}s", "--jobs", 2, "--store", store, "-o", text, "--", program)
    if not store.exists():
        raise RuntimeError(f"no report, status {run.returncode}: {run.stderr}")
    return json.loads(store.read_text())["findings"], text.read_text(), program, store


def check(sooth, source, budget, folder):
    """What is wrong with what is said of the program; an empty list when nothing is."""
    wrong = []
    findings, text, program, store = report_of(sooth, source, False, budget, folder)
    races = [item for item in findings if item["kind"] == "race"]
    violations = [item for item in findings if item["kind"] == "atomicity" and item["rung"] == "harmful"]
    if races:
        wrong.append(f"{len(races)} races")
    if not violations:
        wrong.append("no harmful violation of atomicity: " + (", ".join(f"{item['rung']} {item['kind']}" for item in findings) or "nothing"))
    elif "atomicity violation" not in text:
        wrong.append("the text does not tell of it")
    else:
        replayed = execute(folder, sooth, "replay", f"{store}#{violations[0]['id']}", "--", program)
        if replayed.returncode == 0:
            wrong.append(f"the replay does not fail: {replayed.stdout}{replayed.stderr}")
    findings, _, _, _ = report_of(sooth, source, True, budget, folder)
    wrong += [f"repaired: {item['rung']} {item['kind']}" for item in findings if item["rung"] != "suspected"]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sources = sorted(FOLDER.glob("*.cc"))
    names = options.names or ([source.stem for source in sources] if options.all else QUICK)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                wrong = check(options.sooth.resolve(), FOLDER / f"{name}.cc", options.budget, pathlib.Path(folder))
            except RuntimeError as error:
                wrong = [str(error)]
            print(f"{name}: {'; '.join(wrong) or 'as it should be'}", flush=True)
            failed += 1 if wrong else 0
    print(f"{len(names) - failed} of {len(names)} as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
