#!/usr/bin/env python3
"""Runs `sooth analyze` on every golden trace and compares the site pairs with NAME.expected.

NAME.expected has comment lines (#) and one line for each analysis: `hb: 3,7 4,8` are the pairs of labels,
`deadlock: 2,7,11` the acquires of a cycle, `hb:` says that there is none. Lines of analyses that are not asked for are
left alone; those of PROVING are of pairs that have a checked witness. `predictable` and `predictable_deadlock` are what an exhaustive search finds (src/oracle/golden_test.cc), and
what the tool must report with a checked witness: all of it, and nothing else.

Every trace also goes through every filter, in front of the analyses whose pairs it keeps: they must find the same.
`--traces FOLDER` checks only that, on the traces of another folder (directories and .std files), which need no .expected.

    run.py --sooth build/bin/sooth [--with hb,lockset,...] [--update] [NAME ...]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent

# What docs/tree.md promises.
KEPT_BY_FILTER = {
    "tree": ["lockset", "hybrid"],
    "tree:hb": ["hb", "lockset", "hybrid"],
    "tree:strict": ["hb", "lockset", "hybrid", "wcp", "ipa", "deadlock"],
    "tree:data": ["hb", "lockset", "hybrid", "wcp", "syncp", "ipa", "deadlock"],
}


# These look for witnesses themselves: without, they have nothing to say.
PROVING = ["mcm"]


def label_key(label):
    """Runs of digits compare as numbers: 2.1 < 2.4 < 10."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.findall(r"\d+|\D", label)]


def name_of(site):
    """Its label; of source code the line: what races on one line is one finding, and any of its columns may stand for it."""
    return f"{site['file']}:{site['line']}" if "file" in site else site["label"]


def findings(sooth, trace, analyses, *flags):
    """The findings of the JSON report of the tool, each with its sorted labels."""
    command = [sooth, "analyze", str(trace), "--with", ",".join(analyses), "--format", "json", "--fail-on", "never", *flags]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"`{' '.join(command)}` exited with {run.returncode}: {run.stderr.strip()}")
    found = json.loads(run.stdout)["findings"]
    for finding in found:
        finding["labels"] = sorted((name_of(access["site"]) for access in finding["accesses"]), key=label_key)
    return found


def line(name, found):
    """`name: 3,7 4,8`"""
    found = sorted(found, key=lambda labels: [label_key(label) for label in labels])
    return " ".join([name + ":"] + [",".join(labels) for labels in found])


def line_of(name, found):
    """... of what the analysis believes: ipa also meets deadlocks on its way."""
    kind = "deadlock" if name == "deadlock" else "race"
    return line(name, [f["labels"] for f in found if name in f["found_by"] and f["kind"] == kind])


def found_lines(sooth, trace, analyses):
    """One line for each analysis: what it believes; and what the tool has proven, which must be all that is predictable."""
    believed = findings(sooth, trace, [name for name in analyses if name not in PROVING], "--witness-events", "0")
    lines = {}
    for name in analyses:
        # Alone, so that it cannot lean on what others have found.
        lines[name] = line_of(name, findings(sooth, trace, [name]) if name in PROVING else believed)
    proven = [f for f in findings(sooth, trace, analyses) if f["witness"]["status"] == "checked"]
    for name, kind in (("predictable", "race"), ("predictable_deadlock", "deadlock")):
        lines[name] = line(name, [f["labels"] for f in proven if f["kind"] == kind])
    return lines


def check_filters(sooth, trace, believed, alone=False):
    """True when no filter changes what `believed` ({analysis: line}) says: all analyses together, and two alone, or each."""
    same = True
    for mode, kept in KEPT_BY_FILTER.items():
        for names in [kept] + [[name] for name in (kept if alone else kept[:2])]:
            found = findings(sooth, trace, names, "--witness-events", "0", "--filter", mode)
            for name in names:
                with_filter = line_of(name, found)
                if believed.get(name, with_filter) != with_filter:
                    print(f"{trace.stem} with --filter {mode} --with {','.join(names)}\n"
                          f"  expected  {believed[name]}\n  found     {with_filter}")
                    same = False
    return same


def check_other_trace(sooth, trace):
    """check_filters() on a trace that nothing is known about."""
    names = sorted({name for kept in KEPT_BY_FILTER.values() for name in kept})
    believed = findings(sooth, trace, names, "--witness-events", "0")
    return check_filters(sooth, trace, {name: line_of(name, believed) for name in names}, alone=True)


def check(sooth, trace, analyses, update):
    """True when the tool says what the file expects; with `update` the file is made to say it."""
    path = trace.with_suffix(".expected")
    before = path.read_text().splitlines() if path.exists() else []
    lines = found_lines(sooth, trace, analyses)
    filtered_same = check_filters(sooth, trace, lines)
    after = [lines.pop(line.split(":")[0], line) for line in before]
    after += lines.values()  # analyses that the file does not know yet
    if after == before:
        return filtered_same
    for old, new in zip(before + [""] * (len(after) - len(before)), after):
        if old != new:
            print(f"{trace.stem}\n  expected  {old or '(no line)'}\n  found     {new}")
    if update:
        path.write_text("\n".join(after) + "\n")
    return update and filtered_same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, help="the binary")
    parser.add_argument("--with", dest="analyses", default="hb,lockset,hybrid,wcp,cp,syncp,ipa,mcm,deadlock", help="analyses to run")
    parser.add_argument("--update", action="store_true", help="rewrite the .expected files; review the diff")
    parser.add_argument("--traces", type=pathlib.Path, help="a folder of traces for which only filters are checked")
    parser.add_argument("names", nargs="*", help="traces without .std; all by default")
    options = parser.parse_args()
    if options.traces is not None:
        traces = sorted(p for p in options.traces.iterdir() if p.suffix == ".std" or (p / "version").exists())
        failed = sum(not check_other_trace(options.sooth, trace) for trace in traces)
        print(f"{len(traces)} traces, {failed} that a filter changes")
        sys.exit(1 if failed or not traces else 0)
    traces = [FOLDER / f"{name}.std" for name in options.names] or sorted(FOLDER.glob("*.std"))
    if not traces:
        sys.exit("no golden traces found")
    failed = 0
    for trace in traces:
        try:
            failed += not check(options.sooth, trace, options.analyses.split(","), options.update)
        except (RuntimeError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            print(f"{trace.stem}: {error!r}")
            failed += 1
    print(f"{len(traces)} golden traces, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
