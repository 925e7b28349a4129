#!/usr/bin/env python3
"""Sums up ctest's JUnit files: names what failed, then prints `N passed, M failed`; exits with 1 when anything failed.

A file that is missing or that counts no test is a failure too: it means that ctest itself broke down.
"""
import os
import sys
import xml.etree.ElementTree as ET


def outcome(case):
    """`passed`, `failed` or `skipped`, for one <testcase>."""
    if case.get("status") == "run":
        return "passed"
    if case.get("status") == "disabled":
        return "skipped"
    # ctest says `notrun` of a test that skipped itself, and also of one whose program is missing.
    skipped = case.find("skipped")
    if case.get("status") == "notrun" and skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "failed"


def count(path):
    """The names of the tests in one JUnit file, by outcome."""
    run = os.path.splitext(os.path.basename(path))[0]
    names = {"passed": [], "failed": [], "skipped": []}
    try:
        cases = ET.parse(path).getroot().findall("testcase")
    except (OSError, ET.ParseError) as error:
        names["failed"].append(f"{run}: no result: {error}")
        return names
    for case in cases:
        names[outcome(case)].append(f"{run}: {case.get('name')}")
    if not cases:
        names["failed"].append(f"{run}: no test ran")
    return names


def main(paths):
    counts = [count(path) for path in paths]
    total = {key: [name for names in counts for name in names[key]] for key in ("passed", "failed", "skipped")}
    for name in total["skipped"]:
        print(f"skipped  {name}")
    for name in total["failed"]:
        print(f"FAILED   {name}")
    print(f"{len(total['passed'])} passed, {len(total['failed'])} failed")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
