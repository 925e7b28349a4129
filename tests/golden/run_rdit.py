#!/usr/bin/env python3
"""Traces with calls that were not recorded: tests/golden/rdit/NAME.std with NAME.expected.

NAME.expected has comment lines (#; `# flags:` are options for the tool) and the pairs of labels that analyses report: `rdit: 5,8`
on the trace itself, `hb without calls: 5,8 5,19` on what `sooth trace drop --kind call` leaves of it, which is what an
analysis sees that knows nothing of calls. In addition, for each trace: `sooth witness check` accepts the report of rdit,
analyses that calls would fool refuse the trace and name rdit, and those that guess say that they know nothing of calls.

    run_rdit.py --sooth build/bin/sooth [--update] [NAME ...]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from run import findings, line

FOLDER = pathlib.Path(__file__).resolve().parent / "rdit"
WITHOUT_CALLS = ["hb", "cp", "mcm"]
FOOLED = ["hb", "wcp", "cp", "syncp", "mcm"]
GUESSING = ["lockset", "hybrid", "ipa", "deadlock"]


def pairs(sooth, trace, name, *flags):
    found = findings(sooth, trace, [name], *flags)
    return [f["labels"] for f in found if f["kind"] == "race" and name in f["found_by"]]


def complaints(sooth, trace, flags, folder):
    """What else is wrong with what the tool does to the trace."""
    report = folder / "report.json"
    subprocess.run([sooth, "analyze", trace, "--with", "rdit", "--format", "json", "-o", report, "--fail-on", "never", *flags],
                   check=True, timeout=60)
    checked = subprocess.run([sooth, "witness", "check", report, trace], capture_output=True, text=True, timeout=60, check=False)
    if checked.returncode != 0:
        yield f"sooth witness check: {checked.stderr.strip()}"
    if any(f["rung"] != "predicted" or f["witness"]["status"] != "checked" for f in json.loads(report.read_text())["findings"]):
        yield "a finding of rdit has no checked witness"
    reaches = any("callbegin" in row and "|=" in row for row in trace.read_text().splitlines())
    for name in FOOLED:
        run = subprocess.run([sooth, "analyze", trace, "--with", name], capture_output=True, text=True, timeout=60, check=False)
        refused = run.returncode == 64 and "--with rdit" in run.stderr
        if refused != reaches:
            yield f"--with {name} exited with {run.returncode}: {run.stderr.strip()}"
    for name in GUESSING:
        run = subprocess.run([sooth, "analyze", trace, "--with", name, "--format", "json", "--fail-on", "never"],
                             capture_output=True, text=True, timeout=60, check=True)
        if reaches != any("not recorded" in note for note in json.loads(run.stdout).get("notes", [])):
            yield f"--with {name} does not say what it knows of calls"


def check(sooth, trace, update):
    path = trace.with_suffix(".expected")
    before = path.read_text().splitlines()
    comments = [row for row in before if row.startswith("#")]
    flags = [word for row in comments if row.startswith("# flags: ") for word in row.split()[2:]]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        after = comments + [line("rdit", pairs(sooth, trace, "rdit", *flags))]
        rest = folder / "rest.std"
        subprocess.run([sooth, "trace", "drop", trace, "-o", rest, "--kind", "call", "--format", "std"], check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        after += [line(f"{name} without calls", pairs(sooth, rest, name)) for name in WITHOUT_CALLS]
        wrong = list(complaints(sooth, trace, flags, folder))
    for complaint in wrong:
        print(f"{trace.stem}: {complaint}")
    if before != after and update:
        path.write_text("\n".join(after) + "\n")
    elif before != after:
        print(f"{trace.stem}\n  expected  {before}\n  found     {after}")
        wrong.append("")
    return not wrong


def check_options(sooth, folder):
    """Wrong uses of what is there for rdit, and a trace that loses its synchronisation."""
    trace = FOLDER / "rdit_caveat_5_norace.std"
    locked = folder / "locked.std"
    locked.write_text("T0|enter(f)|1\nT0|acq(m)|2\nT0|w(0x10:4)|3\nT0|rel(m)|4\nT0|exit(f)|4\nT1|enter(f)|5\nT1|acq(m)|2\n"
                      "T1|w(0x10:4)|3\nT1|rel(m)|4\nT1|exit(f)|4\n")
    part = folder / "part.std"
    cases = [
        (["analyze", trace, "--with", "rdit", "--barrier-global", "H"], 64, "the trace has no variable `H`"),
        (["analyze", trace, "--with", "hybrid", "--barrier-global", "G"], 64, "--barrier-global is for rdit"),
        (["analyze", trace, "--with", "rdit", "--filter", "tree"], 64, "rdit"),
        (["trace", "drop", locked, "-o", part, "--functions-with-sync", "--kind", "call"], 64, "stands alone"),
        (["trace", "drop", "-", "-o", part, "--functions-with-sync"], 64, "twice"),
        (["trace", "drop", locked, "-o", part, "--functions-with-sync"], 0, "dropped 4 of 10 events"),
        (["trace", "check", part], 0, "well-formed, 10 events"),
        (["analyze", part, "--with", "rdit"], 0, "No races found"),
        (["analyze", part, "--with", "hb"], 64, "--with rdit"),
    ]
    wrong = 0
    for words, status, text in cases:
        run = subprocess.run([sooth, *words], capture_output=True, text=True, timeout=60, check=False)
        if run.returncode != status or text not in run.stdout + run.stderr:
            print(f"sooth {' '.join(map(str, words))} exited with {run.returncode}: {run.stdout}{run.stderr}")
            wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, help="the binary")
    parser.add_argument("--update", action="store_true", help="rewrite the .expected files; review the diff")
    parser.add_argument("names", nargs="*", help="traces without .std; all by default")
    options = parser.parse_args()
    traces = [FOLDER / f"{name}.std" for name in options.names] or sorted(FOLDER.glob("*.std"))
    failed = sum(not check(options.sooth, trace, options.update) for trace in traces)
    if not options.names:
        with tempfile.TemporaryDirectory() as folder:
            failed += check_options(options.sooth, pathlib.Path(folder))
    print(f"{len(traces)} traces with calls, {failed} failed")
    sys.exit(1 if failed or not traces else 0)


if __name__ == "__main__":
    main()
