#!/usr/bin/env python3
"""`--format gcc` in editors: every line with a source file is read by vim's error format and by the pattern of GCC problem matchers, and
no other one is.

    tests/integration/editors.py SOOTH
"""
import json
import os
import re
import sys

from common import SOURCE, check, main, run, skip_without, with_tool

SOOTH = os.path.abspath(sys.argv[1])
ENVIRONMENT = with_tool(os.path.dirname(SOOTH))

# docs/editors.md holds both; what users copy from there is what is tested.
with open(os.path.join(SOURCE, "docs/editors.md")) as page:
    TEXT = page.read()
MATCHER = re.compile(json.loads("{" + re.search(r'^ *("regexp": ".*"),$', TEXT, flags=re.M).group(1) + "}")["regexp"])
ERROR_FORMAT = re.search(r"^ *(set errorformat=.*)$", TEXT, flags=re.M).group(1)


def make_report(scratch):
    """The lines of a report on a program with several races, and what JSON says of the same."""
    run(["sooth", "c++", "-O1", f"{SOURCE}/examples/producer_consumer.cc", "-o", "program"], cwd=scratch, env=ENVIRONMENT)
    run(["sooth", "run", "--trials", "3", "--store", "report.json", "--format", "gcc", "-o", "problems", "--", "./program"], cwd=scratch,
        env=ENVIRONMENT, expect=66)
    with open(os.path.join(scratch, "problems")) as file:
        lines = file.read().splitlines()
    with open(os.path.join(scratch, "report.json")) as file:
        findings = json.load(file)["findings"]
    check(len(findings) >= 1 and len(lines) >= 3 * len(findings), f"too few lines: {lines}")
    # The place of a finding is that of the access that came last.
    places = [(site["file"], site["line"], site["column"]) for site in (finding["accesses"][-1]["site"] for finding in findings)]
    return lines, places


def has_file(line):
    """Where something in a library without debug information has made a thread or a lock, there is no line to jump to."""
    return not line.startswith("sooth: note: ")


def problem_matcher(scratch):
    lines, places = make_report(scratch)
    found = []
    for line in lines:
        match = MATCHER.match(line)
        check((match is not None) == has_file(line), f"the pattern makes {match} of {line!r}")
        if match is None:
            continue
        path, row, column, severity, message = match.groups()
        check(os.path.isfile(os.path.join(scratch, path)) and message, f"{line!r} becomes {match.groups()}")
        if severity != "note":
            check(message.endswith("[sooth-race]"), f"{line!r} becomes {match.groups()}")
            found.append((path, int(row), int(column)))
    check(sorted(found) == sorted(places), f"{found} is not {places}")


def vim(scratch):
    skip_without("vim")
    lines, places = make_report(scratch)
    script = os.path.join(scratch, "read.vim")
    with open(script, "w") as file:
        file.write(ERROR_FORMAT + "\ncgetfile problems\n"
                   "call writefile([json_encode(map(getqflist(), {_, e -> [e.valid, bufname(e.bufnr), e.lnum, e.col, e.type]}))], 'read')\nqall!\n")
    run(["vim", "-u", "NONE", "-es", "-N", "-S", script], cwd=scratch, env=dict(ENVIRONMENT, TERM="dumb"), expect=None)
    with open(os.path.join(scratch, "read")) as file:
        entries = json.load(file)
    check([entry[0] == 1 for entry in entries] == [has_file(line) for line in lines], f"vim makes {entries} of {lines}")
    found = [(os.path.abspath(os.path.join(scratch, path)), row, column) for _, path, row, column, kind in entries if kind in ("w", "e")]
    wanted = [(os.path.abspath(os.path.join(scratch, path)), row, column) for path, row, column in places]
    check(sorted(found) == sorted(wanted), f"{found} is not {wanted}")


main([problem_matcher, vim])
