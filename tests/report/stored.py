#!/usr/bin/env python3
"""Stored reports from hand to hand: suppressions, baselines and redaction in `sooth report` and `sooth merge`.

    tests/report/stored.py SOOTH
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

HEADER = "/usr/include/c++/12/bits/stl_vector.h"


def site(file, line, function):
    return {"label": f"{file}:{line}", "file": file, "line": line, "column": 3, "function": function}


def access(folder, op, thread, line, function, **more):
    """Inside a call of the library from a line of the user's."""
    return {"op": op, "size": 8, "thread": thread, "event": 10 + line, "site": site(HEADER, 1114, "std::vector<int>::push_back(int const&)"),
            "stack": [site(f"{folder}/src/shop.cc", line, function)], "frame": 1, "locks": [], **more}


def race(folder, name, lines, variable=None, command="./shop --key=secret"):
    first, second = (access(folder, "write", f"T{i + 1}", line, f"work_{line}()", address="0x1000", code=f"orders.push_back({line});",
                            **({"variable": variable} if variable else {})) for i, line in enumerate(lines))
    return {"id": name * 16, "kind": "race", "rung": "confirmed", "found_by": ["hb"], "dynamic_pairs": 1, "distance": 1, "observed": True, "exact": True,
            "known": False, "accesses": [first, second],
            "replay": {"command": f"sooth replay old.json#{name * 16} -- {command}", "seed": 3, "probability": 1.0, "strategy": "directed", "trials": 9,
                       "hits": 9, "outcome": "status 0", "schedule": f"sooth schedule 1\nprogram {command}\nend ended 4\n"}}


def report_of(folder, *findings, program="./shop --key=secret"):
    return {"schema": "sooth-report/1", "trace": f"{folder}/trace", "program": program, "exact": True, "incomplete": False, "ids": 3,
            "findings": list(findings), "suppressed": 0, "suppressions": [], "notes": [],
            "stats": {"events": 100, "threads": 3, "locks": 0, "variables": 2, "sites": 4, "analyses": {}, "analysis_order": []}}


def check(condition, what):
    if not condition:
        raise SystemExit(f"stored.py: {what}")


class Lab:
    def __init__(self, sooth, folder):
        self.sooth, self.folder = sooth, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))

    def load(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def tool(self, *words, expect=0):
        done = subprocess.run([self.sooth, *words], cwd=self.folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
        check(done.returncode == expect, f"sooth {' '.join(words)} ended with {done.returncode}, not {expect}:\n{done.stdout}{done.stderr}")
        return done.stdout


def ids(report):
    return [finding["id"][0] for finding in report["findings"]]


def main():
    with tempfile.TemporaryDirectory(prefix="sooth-stored-") as folder:
        lab = Lab(os.path.abspath(sys.argv[1]), folder)
        elements = race(folder, "b", (5, 9))  # what the vector owns: follows from the race on the vector itself
        elements["context"] = {"memory": {"kind": "heap", "address": "0x1000", "size": 64, "offset": 0, "allocated": {
            key: value for key, value in access(folder, "alloc", "T1", 5, "work_5()").items() if key in ("thread", "event", "site", "stack", "frame")}}}
        lab.write("shop.json", report_of(folder, race(folder, "a", (5, 9), "orders"), elements, race(folder, "c", (20, 21), "prices")))
        text = lab.tool("report", "shop.json", expect=66)
        check("3 races (3 confirmed), 1 of these races follows from another\n" in text and text.count("leads to: ") == 1, text)
        no_runs(lab, folder)
        suppressions(lab)
        baselines(lab)
        redaction(lab)
        merging(lab, folder)
    print("suppressions, baselines, redaction and merges of stored reports are as they should be")


def no_runs(lab, folder):
    """A report of before there were counts: nothing is said of how often it was reached."""
    old = race(folder, "e", (5, 9), "orders")
    old["replay"].update(trials=0, hits=0, probability=0.0)
    lab.write("old_runs.json", report_of(folder, old))
    text = lab.tool("report", "old_runs.json", expect=66)
    check("(seed 3)\n" in text and "reached in" not in text and "0 %" not in text, text)


def suppressions(lab):
    """Of the file that is read, whatever was suppressed when it was made; and nothing follows from what is left out."""
    lab.write("rules", "race:prices\nrace:nothing_like_it\n")
    text = lab.tool("report", "shop.json", "--suppressions", "rules", expect=66)
    check("2 races (2 confirmed), 1 of these races follows from another, 1 suppressed\n" in text, text)
    check("rules:2: unused suppression race:nothing_like_it\n" in text and "prices" not in text, text)
    lab.write("rules", "race:orders\n")
    lab.tool("report", "shop.json", "--suppressions", "rules", "--format", "json", "-o", "left.json", expect=66)
    left = lab.load("left.json")
    check(sorted(ids(left)) == ["b", "c"] and left["suppressed"] == 1, left)
    check(all("follows" not in finding for finding in left["findings"]), left["findings"])
    text = lab.tool("report", "left.json", expect=66)
    check("2 races (2 confirmed), 1 suppressed\n" in text and "leads to" not in text, text)
    lab.write("rules", "race:work_*\n")
    check("; 3 suppressed.\n" in lab.tool("report", "shop.json", "--suppressions", "rules"), "all are suppressed")


def baselines(lab):
    """Known findings stay in JSON, marked; a new one is told although its cause is known, and then stands alone."""
    shop = lab.load("shop.json")
    lab.write("old.json", dict(shop, findings=[finding for finding in shop["findings"] if finding["id"][0] == "a"]))
    text = lab.tool("report", "shop.json", "--baseline", "old.json", expect=66)
    check("2 races (2 confirmed), 1 known from the baseline\n" in text and "leads to" not in text, text)
    check("b" * 16 in text and "c" * 16 in text and "a" * 16 not in text, text)
    lab.tool("report", "shop.json", "--baseline", "old.json", "--format", "json", "-o", "marked.json", expect=66)
    known = {finding["id"][0]: finding["known"] for finding in lab.load("marked.json")["findings"]}
    check(known == {"a": True, "b": False, "c": False}, known)
    lab.tool("report", "shop.json", "--baseline", "shop.json")
    lab.tool("merge", "shop.json", "--format", "text", "--fail-on", "predicted", "--baseline", "old.json", expect=66)


def redaction(lab):
    """Nothing of the user's but names of files and functions; ids stay, so that it is a baseline and can be merged."""
    lab.tool("report", "shop.json", "--redact", "--format", "json", "-o", "shared.json", expect=66)
    with open(lab.path("shared.json"), encoding="utf-8") as file:
        text = file.read()
    for secret in (lab.folder, "secret", "orders.push_back", "sooth schedule"):
        check(secret not in text, f"{secret} is in the redacted report:\n{text}")
    check("shop.cc" in text and "work_5()" in text, text)
    check(sorted(ids(json.loads(text))) == ["a", "b", "c"], text)
    lab.tool("report", "shop.json", "--baseline", "shared.json")
    lab.tool("report", "shared.json", "--baseline", "shop.json")
    again = lab.tool("report", "shared.json", "--redact", "--format", "json", expect=66)
    check(json.loads(again) == json.loads(text), "redacting twice is not the same as once")
    lab.tool("merge", "shared.json", "shop.json", "-o", "both.json")
    schedules = [finding["replay"].get("schedule", "") for finding in lab.load("both.json")["findings"]]
    check(all(schedule.startswith("sooth schedule 1") for schedule in schedules), "a redacted report took the schedules of the whole one")


def merging(lab, folder):
    """Replay lines name the merged file and the program of the report that the finding is from; what follows does so still."""
    other = race(folder, "d", (40, 41), "stock", command="./stock -n 3")
    lab.write("stock.json", report_of(folder, other, program="./stock -n 3"))
    lab.tool("merge", "shop.json", "stock.json", "-o", "all.json")
    merged = lab.load("all.json")
    lines = {finding["id"][0]: finding["replay"]["command"] for finding in merged["findings"]}
    check(lines == {name: f"sooth replay all.json#{name * 16} -- {program}" for name, program in
                    {"a": "./shop --key=secret", "b": "./shop --key=secret", "c": "./shop --key=secret", "d": "./stock -n 3"}.items()}, lines)
    check({finding["id"][0]: finding.get("follows", "")[:1] for finding in merged["findings"]} == {"a": "", "b": "a", "c": "", "d": ""}, merged["findings"])
    reports = {finding["id"][0]: finding.get("reports") for finding in merged["findings"]}
    check(all("stock.json" in str(reports[name]) if name == "d" else "shop.json" in str(reports[name]) for name in "abcd"), reports)
    lab.write("rules", "race:stock\n")
    text = lab.tool("merge", "shop.json", "stock.json", "--format", "text", "--suppressions", "rules")
    check("3 races (3 confirmed), 1 of these races follows from another, 1 suppressed\n" in text, text)
    # A copy under another name replays from there.
    lab.write("copy.json", copy.deepcopy(merged))
    check(f"sooth replay copy.json#{'d' * 16} -- ./stock -n 3" in lab.tool("report", "copy.json", expect=66), "the line names another file")


if __name__ == "__main__":
    main()
