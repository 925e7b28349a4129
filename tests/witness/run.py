#!/usr/bin/env python3
"""What `sooth witness check` says of handmade reports about trace.std: accepted, rejected, malformed.

    tests/witness/run.py SOOTH
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

TRACE = pathlib.Path(__file__).resolve().parent / "trace.std"


def access(operation, thread, event, label):
    return {"op": operation, "thread": thread, "event": event, "site": {"label": label}}


# B's section comes first, then A's is open: A's write is next, and so is B's.
RACE = {
    "id": "race-1", "kind": "race", "rung": "predicted",
    "witness": {"status": "checked", "order": [3, 4, 5, 0], "order_runs": [[1, 3, 5], [0, 0, 0]]},
    "accesses": [access("write", "A", 1, "2"), access("write", "B", 6, "7")],
}
DEADLOCK = {
    "id": "deadlock-1", "kind": "deadlock", "rung": "predicted",
    "witness": {"status": "checked", "order_runs": [[2, 7, 7], [3, 11, 11]]},
    "accesses": [access("acquire", "C", 8, "9"), access("acquire", "D", 12, "13")],
}
SUSPECTED = {
    "id": "race-2", "kind": "race", "rung": "suspected", "witness": {"status": "none", "why": "not asked"},
    "accesses": RACE["accesses"],
}


def changed(finding, name, witness=None, first=None):
    """A copy under another id, with other members of its witness and of its first access."""
    finding = copy.deepcopy(finding)
    finding["id"] = name
    finding["witness"].update(witness or {})
    finding["accesses"][0].update(first or {})
    return finding


def report(*findings):
    return json.dumps({"schema": "sooth-report/1", "findings": findings, "stats": {"events": 13}})


ACCEPTED = "race-1: witness accepted (4 events)\ndeadlock-1: witness accepted (2 events)\n"


def rejected(finding, why):
    """One finding of the right kind beside it shows that the rest is judged all the same."""
    return (report(finding, DEADLOCK), 65,
            f"{finding['id']}: REJECTED: {why}\ndeadlock-1: witness accepted (2 events)\n"
            "2 witnesses checked: 1 accepted, 1 rejected; 0 findings without a witness.\n", "")


# Report, exit status, standard output, and how standard error goes on after "sooth: REPORT: " ("" = nothing there).
CASES = [
    (report(RACE, DEADLOCK, SUSPECTED), 0,
     ACCEPTED + "2 witnesses checked: 2 accepted, 0 rejected; 1 finding without a witness.\n", ""),
    (report(), 0, "0 witnesses checked: 0 accepted, 0 rejected; 0 findings without a witness.\n", ""),
    rejected(changed(RACE, "overlap", {"order": [0, 3, 4, 5], "order_runs": []}),
             "event 3 (B acquires m) comes while A holds the lock since event 0"),
    rejected(changed(RACE, "short", {"order": [], "order_runs": [[1, 3, 5]]}),
             "event 1 (A writes x) cannot come next: event 0 (A acquires m) comes before it in its thread"),
    rejected(changed(RACE, "two-orders", {"order": [3, 4, 5]}), "the order and its runs do not say the same"),
    rejected(changed(RACE, "run", {"order": [], "order_runs": [[1, 2, 5], [0, 0, 0]]}),
             "the run [1, 2, 5] is wrong: event 2 is none of thread 1"),
    rejected(changed(RACE, "label", first={"site": {"label": "3"}}),
             "the report says that event 1 has the site `3`, in the trace it has `2`"),
    rejected(changed(RACE, "operation", first={"op": "read"}),
             "the report says that event 1 has the operation `read`, in the trace it has `write`"),
    rejected(changed(RACE, "thread", first={"thread": "B"}),
             "the report says that event 1 has the thread `B`, in the trace it has `A`"),
    rejected(changed(RACE, "size", first={"size": 4}),
             "the report says that event 1 has the size `4`, in the trace it has `1`"),
    rejected(changed(RACE, "nowhere", first={"event": 13}), "event 13 is not in the trace, which has 13 events"),
    rejected(changed(RACE, "far", {"order": [2 ** 64 - 1], "order_runs": []}),
             "event 18446744073709551615 is not in the trace, which has 13 events"),
    ("{", 65, "", "line 1, column 2: this is not valid JSON, so no report of sooth"),
    (report(changed(RACE, "pair", {"order_runs": [[1, 3]]})), 65, "",
     "this is no report of sooth that can be read: findings[0].witness.order_runs[0] is not "
     "[thread, first event, last event]"),
]


def main(sooth):
    failed = 0

    def compare(what, run, status, output, errors):
        nonlocal failed
        if (run.returncode, run.stdout, run.stderr) != (status, output, errors):
            failed += 1
            print(f"{what}\n  expected {status}, {output!r}, {errors!r}\n"
                  f"  got      {run.returncode}, {run.stdout!r}, {run.stderr!r}")

    def check(path, trace, *options):
        return subprocess.run([sooth, "witness", "check", path, str(trace), *options], capture_output=True, text=True,
                              check=False)

    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "report.json")
        for text, status, output, errors in CASES:
            pathlib.Path(path).write_text(text, encoding="utf-8")
            compare(text, check(path, TRACE), status, output, f"sooth: {path}: {errors}\n" if errors else "")
        pathlib.Path(path).write_text(report(RACE), encoding="utf-8")
        compare("a trace that is too long", check(path, TRACE, "--max-events", "6"), 65, "",
                f"sooth: {TRACE}: the trace has more than 6 events, the most that may be kept in memory\n")
        broken = pathlib.Path(folder) / "broken.std"
        broken.write_text("A|rel(m)|1\n", encoding="utf-8")
        compare("a malformed trace", check(path, broken), 65, "",
                f"sooth: {broken}: event 0 (A): releases lock m which it does not hold\n")
        odd = pathlib.Path(folder) / "odd.std"  # names that are no UTF-8 stand in reports with replacement characters
        odd.write_bytes(b"A\xff\xfe|w(x)|1\nB|w(x)|\xe9\xe9\n")
        pathlib.Path(path).write_text(report({
            "id": "odd", "kind": "race", "rung": "predicted", "witness": {"status": "checked"},
            "accesses": [access("write", "A\ufffd", 0, "1"), access("write", "B", 1, "\ufffd\ufffd")]}),
                                      encoding="utf-8")
        compare("names that are no UTF-8", check(path, odd), 0,
                "odd: witness accepted (0 events)\n"
                "1 witness checked: 1 accepted, 0 rejected; 0 findings without a witness.\n", "")
    print(f"{len(CASES) + 3 - failed} of {len(CASES) + 3} cases as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
