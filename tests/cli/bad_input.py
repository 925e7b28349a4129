#!/usr/bin/env python3
"""Traces that are missing, empty, damaged, malformed or huge: the exact exit code, one sentence on standard error that says
what is wrong, and nothing on standard output.

    tests/cli/bad_input.py SOOTH
"""
import json
import os
import re
import subprocess
import sys
import tempfile

THREADS = 10_000


def put(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)
    return path


def make_inputs(sooth, folder):
    """The inputs by name; what sooth makes, it makes without a word."""
    at = {name: os.path.join(folder, name) for name in (
        "missing", "no_trace", "empty_dir", "whole", "cut", "flipped", "no_version", "no_events")}
    os.mkdir(at["no_trace"])
    at["empty"] = put(os.path.join(folder, "empty.std"), "")
    at["good"] = put(os.path.join(folder, "good.std"), "T0|fork(T1)|1\nT1|w(x)|2\nT0|w(x)|3\n")
    at["syntax"] = put(os.path.join(folder, "syntax.std"), "T0|w(x)|1\nT0|frobnicate(x)|2\n")
    at["malformed"] = put(os.path.join(folder, "malformed.std"), "T0|w(x)|1\nT0|rel(L)|2\n")
    at["binary"] = put(os.path.join(folder, "binary.std"), b"\x7fELF\0\0\0", "wb")
    commands = [["trace", "convert", at["empty"], at["empty_dir"]]]
    commands += [["trace", "gen", "--events", "2000", "-o", at[name]]
                 for name in ("whole", "cut", "flipped", "no_version", "no_events")]
    for command in commands:
        subprocess.run([sooth, *command], check=True, capture_output=True)
    os.truncate(os.path.join(at["cut"], "events"), 500)
    with open(os.path.join(at["flipped"], "events"), "r+b") as file:
        file.seek(300)
        byte = file.read(1)[0]
        file.seek(300)
        file.write(bytes([byte ^ 1]))
    os.remove(os.path.join(at["no_events"], "events"))
    os.remove(os.path.join(at["no_version"], "version"))
    return at


def cases(at):
    """Arguments, exit status, and what the sentence on standard error must contain; None: nothing may be there."""
    analyze = ["analyze", "--with", "hb"]
    quiet = ["--fail-on", "never", "-o", os.devnull]
    for command in (analyze, ["trace", "check"], ["trace", "info"]):
        yield [*command, at["missing"]], 65, "No such file or directory"
        yield [*command, at["no_trace"]], 65, "is a directory, but not a trace"
        yield [*command, at["no_version"]], 65, "is a directory, but not a trace"
        yield [*command, at["no_events"]], 65, "cannot read: No such file or directory"
        yield [*command, at["cut"]], 65, "the trace is damaged: block at byte"
        yield [*command, at["flipped"]], 65, "the trace is damaged: block at byte"
        yield [*command, at["syntax"]], 65, "line 2"
        yield [*command, at["binary"]], 65, "binary.std"
    for command in (analyze, ["trace", "check"]):
        yield [*command, at["malformed"]], 65, r"event 1 \(T0\)"
    for name in ("empty", "empty_dir"):
        yield [*analyze, *quiet, at[name]], 0, None
        yield ["analyze", *quiet, at[name]], 0, None
    yield [*analyze, "-o", os.devnull, at["good"]], 66, None
    yield [*analyze, *quiet, at["good"]], 0, None
    yield ["analyze", "--with", "hb,nonsense", at["good"]], 64, "there is no analysis `nonsense`"
    yield ["analyze", "--with", "", at["good"]], 64, "--with"
    yield ["analyze", "--fail-on", "sometimes", at["good"]], 64, "--fail-on"
    yield ["analyze", "--format", "papyrus", at["good"]], 64, "--format"
    yield ["analyze", at["good"], at["good"]], 64, ""
    yield ["analyze"], 64, "analyze needs one trace"
    yield ["trace"], 64, ""
    yield ["trace", "nonsense"], 64, ""
    yield ["trace", "convert", at["good"], at["whole"]], 64, "exists already"
    if os.geteuid() != 0:  # root may read everything
        os.chmod(at["good"], 0)
        yield [*analyze, at["good"]], 65, "Permission denied"
        os.chmod(at["good"], 0o600)


def check_cases(sooth, at):
    failed = count = 0
    for arguments, status, sentence in cases(at):
        count += 1
        run = subprocess.run([sooth, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        expected = r"" if sentence is None else rf"sooth: [^\n]*{sentence}[^\n]*\n"
        if run.returncode != status or not re.fullmatch(expected, run.stderr) or run.stdout:
            failed += 1
            print(f"`sooth {' '.join(arguments)}`: expected status {status}, no output, errors /{expected}/\n"
                  f"  got status {run.returncode}, output {run.stdout[:300]!r}, errors {run.stderr!r}")
    print(f"{count - failed} of {count} cases as expected")
    return failed


def check_many_threads(sooth, folder):
    """Each thread is forked, writes the same variable once, and is joined after all others were forked: one race."""
    lines = [f"T0|fork(T{t})|fork" for t in range(1, THREADS)]
    lines += [f"T{t}|w(x)|racy" for t in range(1, THREADS)]
    lines += [f"T0|join(T{t})|join" for t in range(1, THREADS)]
    text = put(os.path.join(folder, "threads.std"), "\n".join(lines) + "\n")
    directory = os.path.join(folder, "threads")
    subprocess.run([sooth, "trace", "convert", text, directory], check=True, capture_output=True)
    failed = 0
    for trace in (text, directory):
        for analysis in ("hb", "lockset", "hybrid"):
            run = subprocess.run([sooth, "analyze", trace, "--with", analysis, "--format", "json", "--fail-on", "suspected"],
                                 capture_output=True, text=True, check=False, timeout=60)
            labels = [[access["site"]["label"] for access in finding["accesses"]]
                      for finding in json.loads(run.stdout)["findings"]] if run.returncode == 66 else run.stderr
            if labels != [["racy", "racy"]]:
                failed += 1
                print(f"{analysis} over {THREADS} threads in {trace}: status {run.returncode}, found {labels!r}")
    return failed


def main(sooth):
    with tempfile.TemporaryDirectory() as folder:
        failed = check_cases(sooth, make_inputs(sooth, folder))
        failed += check_many_threads(sooth, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
