#!/usr/bin/env python3
"""What reports call variables: tests/names/variables.cc with each compiler, with and without optimisation.

    tests/names/run.py SOOTH [--compilers g++,clang++-19] [--levels -O0,-O2] [--keep DIR]

Each line with `//= TEXT` must be a race whose memory is called TEXT; a heap block also tells how many bytes the
program asked for, and `holding` the locks that threads hold there. A line may say `//= TEXT |-O2 OTHER` or `|clang++-14-O2
OTHER` where compilers tell less. Prints what differs, and a closing sentence with the number of cases.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "variables.cc")
OTHERS = [os.path.join(HERE, "elsewhere.cc")]
PLAIN = os.path.join(HERE, "plain.c")
COMPILERS = ["g++", "clang++-19", "clang++-14"]


def expectations(compiler, level):
    """Text by line."""
    wanted = {}
    with open(SOURCE, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            match = re.search(r"TOUCH\(.*//= (.*)$", line)
            if not match:
                continue
            first, *others = [part.strip() for part in match.group(1).split("|")]
            for other in others:
                condition, text = other.split(" ", 1)
                if condition in (level, compiler, compiler + level):
                    first = text
            wanted[number] = first
    return wanted


def text_of(finding):
    memory = finding.get("context", {}).get("memory", {})
    name = memory.get("name", "")
    if not name and memory.get("kind") == "stack":
        return "stack of " + memory["thread"]
    if not name:
        return "%s block of %s bytes" % (memory.get("kind", "no"), memory.get("size", "?"))
    held = sorted({lock for access in finding["accesses"] for lock in access["locks"]})
    locks = " holding " + ", ".join(held) if held else ""
    if memory["kind"] == "stack":
        return name + (" in " + memory["function"] if "function" in memory else " of " + memory["thread"]) + locks
    return name + (" in %s bytes" % memory["size"] if memory["kind"] == "heap" else "") + locks


def found_texts(report):
    """Texts of the races, by the line of variables.cc that both accesses come from."""
    texts = {}
    for finding in report["findings"]:
        if finding["kind"] != "race":
            continue
        lines = set()
        for access in finding["accesses"]:
            sites = [access["site"]] + access["stack"]
            own = [site for site in sites if site.get("file", "").endswith("variables.cc")]
            lines.add(own[0]["line"] if own else 0)
        if len(lines) == 1:
            texts.setdefault(lines.pop(), set()).add(text_of(finding))
    return texts


def run(sooth, compiler, level, scratch):
    """Sentences about what differs."""
    program = os.path.join(scratch, "variables")
    trace = os.path.join(scratch, "trace")
    report = os.path.join(scratch, "report.json")
    plain = os.path.join(scratch, "plain.o")
    shutil.rmtree(trace, ignore_errors=True)
    c_compiler = compiler.replace("clang++", "clang").replace("g++", "gcc")
    subprocess.run([sooth, "cc", "--compiler=" + c_compiler, "-g", level, "-c", PLAIN, "-o", plain], check=True)
    subprocess.run([sooth, "c++", "--compiler=" + compiler, "-std=c++17", "-g", level, SOURCE, *OTHERS, plain, "-o", program], check=True)
    subprocess.run([sooth, "record", "--schedule", "serial", "-o", trace, "--", program], check=True)
    subprocess.run([sooth, "analyze", trace, "--with", "hb,mcm", "--format", "json", "-o", report, "--fail-on", "never"],
                   check=True)
    with open(report, encoding="utf-8") as file:
        texts = found_texts(json.load(file))
    wrong = []
    wanted = expectations(compiler, level)
    for line, text in wanted.items():
        found = texts.get(line, set())
        if found != {text}:
            wrong.append("%s %s: line %d: %s, not %s" % (compiler, level, line, sorted(found) or "no race", text))
    return wrong, len(wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sooth")
    parser.add_argument("--compilers", default=",".join(c for c in COMPILERS if shutil.which(c)))
    parser.add_argument("--levels", default="-O0,-O2")
    options = parser.parse_args()
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for compiler in options.compilers.split(","):
            for level in options.levels.split(","):
                more, count = run(os.path.abspath(options.sooth), compiler, level, scratch)
                wrong += more
    print("\n".join(wrong))
    print("%d names with %s at %s: %d differ" % (count, options.compilers, options.levels, len(wrong)))
    return 1 if wrong or count < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
